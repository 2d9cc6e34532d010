import { ConfigError } from '../../domain/errors.ts'

export function noService(): ConfigError {
  return new ConfigError(
    'missing_setting',
    'PAYDIRT_SERVICE_URL is not set: the base address of the data service',
  )
}

export function noPayment(): ConfigError {
  return new ConfigError(
    'missing_setting',
    'nothing to pay with: set PAYDIRT_WALLET_KEY (`paydirt wallet new` makes one) or, for direct access, PAYDIRT_API_KEY',
  )
}
