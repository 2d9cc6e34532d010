export function urlOf(serviceUrl: string, path: string): string {
  return serviceUrl.replace(/\/$/, '') + path
}
