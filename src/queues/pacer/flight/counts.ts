/** Requests by the number under way beside them, which tells refusals of a limit on that from others. */
export interface Counts {
  /** Served and refused requests by the number under way beside them. */
  served: number[]
  /** The same by the number that the server had for certain. */
  surelyServed: number[]
  refused: number[]
  /** Times that a limit was given up again: each makes the next one need more evidence. */
  givenUp: number
}

/** Refusals of as many moments; of them, so many may be unexplained, and so many requests served in spite of it. */
const refusalsToTell = 2
const unexplainedPart = 0.3
const servedPart = 9
/** A request with so many beside it is so many times likelier to be refused. */
const ratioToTell = 30
/** The refusals are so much likelier under the limit than under a rate, as a logarithm. */
const evidenceToTell = 9
const evidencePerMistake = 4
/** Each refusal that the limit does not explain asks for so much more: beginning, a busy process sees it with too few beside it. */
const evidencePerUnexplained = 3

/**
 * Returns the limit that explains the refusals, or 0. Under it, refused requests had so many beside them, and requests that had
 * so many beside them for certain were not served. Under a rate, refused requests had as many beside them as served ones.
 */
export function limitShown(counts: Counts): number {
  const { served, refused, givenUp } = counts
  const allServed = sum(served)
  const allRefused = sum(refused)
  for (let limit = refused.length - 1; limit > 0; limit--) {
    const explained = explainedBy(limit, counts)
    if (explained < refusalsToTell) continue
    const servedThere = sum(served.slice(limit)) + 1
    const unexplained = allRefused - explained
    const ratio = (explained / servedThere) * ((allServed - servedThere) / (unexplained + 0.5))
    const evidence = explained * Math.log((allServed + 1) / servedThere)
    const needed = evidenceToTell + evidencePerUnexplained * unexplained + evidencePerMistake * givenUp
    if (evidence > needed && ratio > ratioToTell) return limit
  }
  return 0
}

/** Few refusals are known yet, or some limit on requests under way may explain those that are. */
export function mayShowLimit(counts: Counts): boolean {
  const { refused } = counts
  return (
    sum(refused) < refusalsToTell || refused.some((_, limit) => limit > 0 && explainedBy(limit, counts) > 0)
  )
}

/** Returns the refusals that such a limit explains, or 0 where it leaves too many unexplained, or too much was served beyond it. */
function explainedBy(limit: number, { surelyServed, refused }: Counts): number {
  const explained = sum(refused.slice(limit))
  const all = sum(refused)
  const isLikely =
    all - explained <= unexplainedPart * all && sum(surelyServed.slice(limit)) <= servedPart * explained
  return isLikely ? explained : 0
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
