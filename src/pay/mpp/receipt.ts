import { Receipt as PaymentReceipt } from 'mppx'
import type { Receipt, ResponseHead } from '../../domain/payment.ts'
import { readProblem } from './challenge.ts'

/**
 * Returns what the server states about the payment. A receipt counts only on a 2xx answer. On any other response the
 * header proves nothing, and the payer asks the chain.
 */
export function readReceipt(response: ResponseHead, method: string): Receipt | undefined {
  const header = response.headers['payment-receipt']
  if (header === undefined || response.status < 200 || response.status > 299) return readProblem(response)
  try {
    const receipt = PaymentReceipt.deserialize(header)
    if (receipt.method !== method)
      return { success: false, transaction: null, reason: 'receipt_of_other_method' }
    return { success: true, transaction: reference(receipt.reference, method), reason: null }
  } catch {
    return { success: false, transaction: null, reason: 'unreadable_receipt' }
  }
}

/**
 * Returns the transaction hash for a payment on the chain, which reports compare with the chain. Otherwise returns the
 * processor's own reference.
 */
function reference(value: string, method: string): string | null {
  if (method === 'evm') return /^0x[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : null
  return /^[\w.:-]{1,128}$/.test(value) ? value : null
}
