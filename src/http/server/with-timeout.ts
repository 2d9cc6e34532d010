import { Problem } from './problem.ts'

/** The work, or a problem when it takes longer. The work goes on; what becomes of it then is nobody's concern. */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Problem(503, 'timeout', 'this took too long here; what was begun goes on')),
      timeoutMs,
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}
