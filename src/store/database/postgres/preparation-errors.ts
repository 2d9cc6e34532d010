/** There is none of this name on the connection, or there is one although the driver knows of none. */
const outOfStep = new Set(['26000', '42P05'])

/**
 * Returns true for an error that comes of having prepared a statement. Nothing was done. Its rows have other columns since a migration by a
 * newer version, which every connection will meet, or the driver's list is not the server's. Told by code and place: servers translate
 * the message.
 */
export function isOfPreparation(error: unknown): boolean {
  const { code, routine } = error as { code?: unknown; routine?: unknown }
  return outOfStep.has(String(code)) || (code === '0A000' && routine === 'RevalidateCachedQuery')
}
