import { Problem } from './problem.ts'

/** Resolves with the work, or rejects with a 503 problem after `timeoutMs`. The work continues, but its outcome is ignored. */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Problem(503, 'timeout', 'the request took too long; work that was started continues')),
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
