import { decodePaymentResponseHeader } from '@x402/core/http'

type Settlement = ReturnType<typeof decodePaymentResponseHeader>

/** An object in whole groups of Base64: `ey` is how `{"` begins. */
const usual = /^(?=ey)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * Decodes the header that says how a payment was settled. Every paid answer has one. The usual form is read by Node in half the time,
 * and any other by the official client. Throws for what cannot be read.
 */
export function settlementOf(header: string): Settlement {
  return usual.test(header)
    ? (JSON.parse(Buffer.from(header, 'base64').toString()) as Settlement)
    : decodePaymentResponseHeader(header)
}
