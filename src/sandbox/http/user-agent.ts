const LIBRARIES =
  /^(node|node-fetch|undici|curl|wget|axios|got|ky|deno|bun|python-requests|python-urllib|python-httpx|aiohttp|go-http-client|okhttp|java|ruby|libwww-perl|postmanruntime|httpie|insomnia)\b/i

/** Returns whether a User-Agent is empty or names only the library that sends the request. */
export function isGenericUserAgent(userAgent: string | undefined): boolean {
  const name = userAgent?.trim() ?? ''
  return name === '' || name === '*' || LIBRARIES.test(name) || /^mozilla\/\d\.\d$/i.test(name)
}
