/** The pacer's hash in Redis: one round trip for a take, one for a batch of reports. */
import type { RedisClient } from '../redis-client.ts'
import type { Lane } from '../../domain/ports/send-permit.ts'
import type { SlotsAsked, SlotsGiven } from './flight/leases.ts'
import { newLearner, readLearner, type Learner, type LearnerSettings } from './learner.ts'
import { paceOf } from './state.ts'
import { commitScript, readScript, takeScript } from './token-script.ts'
import type { TokenGrant, TokenSettings, WindowPlace } from './token.ts'

export interface TakeAnswer {
  nowMs: number
  version: string
  hotWaitMs: number
  backgroundWaitMs: number
  intervalMs: number
  grants: TokenGrant[]
  /** Present when it was asked for and is another than the caller knows. */
  learner?: Learner
  /** Absent while no limit on requests under way is known. */
  slots?: SlotsGiven | undefined
}

export interface SharedState {
  /** With `knownVersion`, the answer brings the learner if that is another one by now. */
  take(
    wanted: Record<Lane, number>,
    slots: SlotsAsked,
    options: { horizonMs: number; knownVersion?: string | undefined },
  ): Promise<TakeAnswer>
  read(): Promise<{ nowMs: number; version: string; learner: Learner }>
  /** Returns what another process has committed first, or that it is stored. */
  commit(version: string, learner: Learner, nowMs: number): Promise<Commit>
}

export type Commit = { version: string; nowMs: number } & (
  { isStored: true } | { isStored: false; learner: Learner }
)

type GrantReply = [lane: Lane, atMs: string, busy: number, epoch: string, ...places: string[]]
type TakeReply = [
  now: string,
  version: string,
  hotWait: string,
  backgroundWait: string,
  interval: string,
  grants: GrantReply[],
  slots: [share: number, held: number, isTest: number] | [],
  learner: string,
]

interface Scripted {
  paydirtReadPace(key: string): Promise<[version: string | null, learner: string | null, now: string]>
  paydirtTakeTokens(key: string, ...args: (string | number)[]): Promise<TakeReply>
  paydirtCommitPace(
    key: string,
    version: string,
    pace: string,
    learner: string,
  ): Promise<[isStored: number, version: string, now: string, learner?: string | null]>
}

export function createSharedState(
  redis: RedisClient,
  key: string,
  settings: { token: TokenSettings; learner: LearnerSettings },
): SharedState {
  redis.defineCommand('paydirtTakeTokens', { numberOfKeys: 1, lua: takeScript })
  redis.defineCommand('paydirtCommitPace', { numberOfKeys: 1, lua: commitScript })
  redis.defineCommand('paydirtReadPace', { numberOfKeys: 1, lua: readScript })
  const scripted = redis as unknown as Scripted
  const fresh = newLearner(settings.learner)
  const { slackMs, hotShare, hotPresenceMs } = settings.token
  const initial = [JSON.stringify(paceOf(fresh, 0)), JSON.stringify(fresh)] as const

  return {
    async take(wanted, slots, { horizonMs, knownVersion }) {
      const reply = await scripted.paydirtTakeTokens(
        key,
        wanted.hot,
        wanted.background,
        horizonMs,
        slackMs,
        hotShare,
        ...initial,
        '',
        hotPresenceMs,
        slots.process,
        slots.underWay,
        slots.want,
        slots.hot ? 1 : 0,
        ...(knownVersion === undefined ? [] : [knownVersion]),
      )
      const learner = reply[7]
      return { ...readTakeReply(reply), ...(learner ? { learner: storedLearner(learner) } : {}) }
    },

    async read() {
      const [version, learner, now] = await scripted.paydirtReadPace(key)
      return {
        nowMs: Number(now),
        version: version ?? '',
        learner: storedLearner(learner),
      }
    },

    async commit(version, learner, nowMs) {
      const pace = JSON.stringify(paceOf(learner, nowMs))
      const [isStored, following, now, other] = await scripted.paydirtCommitPace(
        key,
        version,
        pace,
        JSON.stringify(learner),
      )
      const known = { version: following, nowMs: Number(now) }
      return isStored === 1
        ? { ...known, isStored: true }
        : { ...known, isStored: false, learner: storedLearner(other) }
    },
  }

  function storedLearner(text: string | null | undefined): Learner {
    return text ? readLearner(text, settings.learner) : fresh
  }
}

export function readTakeReply(reply: TakeReply): TakeAnswer {
  const [now, version, hotWait, backgroundWait, interval, grants, [share, held, isTest]] = reply
  return {
    nowMs: Number(now),
    version,
    hotWaitMs: Number(hotWait),
    backgroundWaitMs: Number(backgroundWait),
    intervalMs: Number(interval),
    grants: grants.map(readGrant),
    slots: share === undefined ? undefined : { share, held: held ?? share, isTest: isTest === 1 },
  }
}

function readGrant([lane, atMs, busy, epoch, ...flat]: GrantReply): TokenGrant {
  const places: WindowPlace[] = []
  for (let i = 0; i + 3 < flat.length; i += 4) {
    places.push({
      anchorMs: Number(flat[i]),
      lengthMs: Number(flat[i + 1]),
      index: Number(flat[i + 2]),
      ordinal: Number(flat[i + 3]),
    })
  }
  return { atMs: Number(atMs), lane, epoch: Number(epoch), busy: busy === 1, places }
}
