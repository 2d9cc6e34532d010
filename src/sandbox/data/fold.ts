// Reads text that people write, as the service does. The rules are written here and not taken from the domain, so that
// a wrong key there cannot agree with the sandbox.

/** Returns a name without case, accents and punctuation, in its own script. */
export function foldName(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

const legalForms =
  /(?<= )(inc|incorporated|llc|ltd|limited|gmbh|ag|sas|sa|co|corp|corporation|company|plc|kg|pvt|pte|ltda|ab|oy|bv|sp z o o)$/

/** Returns a company's name without its legal form. */
export function foldPlace(text: string): string {
  let folded = foldName(text)
  for (let before = ''; before !== folded;) {
    before = folded
    folded = folded.replace(legalForms, '').trim()
  }
  return folded
}

export function foldEmail(text: string): string {
  return text.trim().toLowerCase()
}

/** Returns the digits of an international number. A leading 00 stands for the plus sign. */
export function foldPhone(text: string): string {
  return text.replace(/\D/g, '').replace(/^00/, '')
}

/** Returns the domain of a website address; null if it has none. */
export function foldDomain(text: string): string | null {
  const trimmed = text.trim()
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`
  if (!URL.canParse(address)) return null
  const host = new URL(address).hostname.replace(/^www\./, '').replace(/\.$/, '')
  return /^[^.]+(\.[^.]+)+$/.test(host) ? host : null
}
