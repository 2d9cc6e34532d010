/** Returns an address that a browser opens as a web page; undefined for any other, which stays text. */
export function evidenceLink(link: string | null): string | undefined {
  if (link === null || !URL.canParse(link)) return undefined
  const { protocol, href, username, password } = new URL(link)
  return /^https?:$/.test(protocol) && username === '' && password === '' ? href : undefined
}
