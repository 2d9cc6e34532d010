import type { JudgeRule } from './judge.ts'
import type { Rule, Shape } from './limit-server.ts'

export interface PacingScenario {
  id: string
  /** The name under which `--only` finds it. */
  group:
    | '10'
    | '50'
    | '200'
    | 'minute'
    | 'hour'
    | 'change'
    | 'shape'
    | 'cold'
    | 'nginx'
    | 'haproxy'
    | 'library'
    | 'command'
    | 'drawn'
  label: string
  goal: string
  /** The limits in force, one after the other, each for a number of seconds. */
  phases: { rules: Rule[]; seconds: number }[]
  processes: 1 | 4
  /** Seconds at the start of each phase that are left out. `back at 95 %` covers what is learned in them. */
  learnSeconds: number
  /** Another program judges in place of our own server, by one rule in each phase. `serviceMs` is what the service behind it takes. */
  judge?: { program: 'nginx' | 'haproxy'; rules: JudgeRule[]; serviceMs?: number }
  /** `paydirt csv` with an API key and settings of its own sends the requests, in place of the pacer alone. */
  isCommand?: boolean
  /** A client that knows this limit sends so many at once, in place of the pacer. The command is told it at its start. */
  knownAtOnce?: number
}

const second = (kind: Rule['kind'], limit: number): Rule => ({ kind, limit, windowMs: 1_000 })
const minute = (kind: Rule['kind'], limit: number): Rule => ({ kind, limit, windowMs: 60_000 })

/** Returns the scenarios in waves. The scenarios of one wave run at the same time, each against a path of its own. */
export function pacingWaves(): PacingScenario[][] {
  const both = [1, 4] as const
  const slow: PacingScenario[] = both.flatMap((processes) => [
    ...(['fixed', 'sliding', 'bucket'] as const).map((kind) =>
      scenario('minute', `300 a minute, ${kind}`, '97 / 0.5', processes, 240, [[minute(kind, 300)], 780]),
    ),
    ...(['fixed', 'sliding', 'bucket'] as const).map((kind) =>
      scenario('10', `10 a second, ${kind}`, kind === 'sliding' ? 'none' : '98.5 / 0.4', processes, 240, [
        [second(kind, 10)],
        840,
      ]),
    ),
  ])
  slow.push(
    scenario(
      'hour',
      '50 in 10 s and 200 in 300 s (300 a minute, 2,400 an hour: the same rates)',
      '97 / 0.5',
      1,
      600,
      [
        [
          { kind: 'fixed', limit: 50, windowMs: 10_000 },
          { kind: 'fixed', limit: 200, windowMs: 300_000 },
        ],
        910,
      ],
    ),
    scenario(
      'change',
      '300 a minute fixed, halved, doubled back',
      '95 in window 3',
      1,
      0,
      [[minute('fixed', 300)], 300],
      [[minute('fixed', 150)], 300],
      [[minute('fixed', 300)], 300],
    ),
  )
  const fast = both.map((processes): PacingScenario[] => [
    ...(['fixed', 'sliding', 'bucket'] as const).map((kind) =>
      scenario('50', `50 a second, ${kind}`, kind === 'sliding' ? '97 / 0.5' : '98.5 / 0.4', processes, 30, [
        [second(kind, 50)],
        150,
      ]),
    ),
    scenario('50', '50 a second, sliding, refused calls count', '97 / 0.5', processes, 30, [
      [{ ...second('sliding', 50), countRefused: true }],
      150,
    ]),
  ])
  const faster = both.flatMap((processes): PacingScenario[][] => [
    [scenario('200', '200 a second, fixed', '98.5 / 0.4', processes, 30, [[second('fixed', 200)], 90])],
    [scenario('200', '200 a second, bucket', '98.5 / 0.4', processes, 30, [[second('bucket', 200)], 90])],
    [scenario('200', '200 a second, sliding', '97 / 0.5', processes, 30, [[second('sliding', 200)], 90])],
  ])
  const changing = [
    ([50, 200] as const).map((limit) =>
      scenario(
        'change',
        `${limit} a second fixed, halved, doubled back`,
        'none',
        1,
        0,
        [[second('fixed', limit)], 60],
        [[second('fixed', limit / 2)], 60],
        [[second('fixed', limit)], 60],
      ),
    ),
  ]
  return [slow, ...fast, ...faster, ...changing, ...shaped(), ...byCommand()]
}

/** The command line as a user runs it. The first third of a run is left out. One at a time, as the command takes a core. */
function byCommand(): PacingScenario[][] {
  const of = (
    label: string,
    goal: string,
    served: number,
    shape?: Shape,
    seconds = 120,
  ): [PacingScenario] => [
    {
      ...scenario('command', `paydirt csv: ${label}`, goal, 1, Math.round(seconds / 3), [
        [{ kind: 'fixed', limit: served, windowMs: 1_000, ...(shape && { shape }) }],
        seconds,
      ]),
      isCommand: true,
    },
  ]
  const most = 6
  const atOnce = { kind: 'at-once', most, serviceMs: 40 } as const
  const [known] = of('6 at once, 40 ms each, known beforehand', 'none', 150, atOnce, 60)
  return [
    of('20 a second, spaced, 1 extra', '95 / 0.5', 20, { kind: 'spaced', perSecond: 20, burst: 1 }),
    of('20 a second, 5 s closed after a refusal', '95', 20, {
      kind: 'penalty',
      perSecond: 20,
      penaltyMs: 5_000,
    }),
    of('6 at once, 40 ms each', '93 / 0.5', 150, atOnce),
    [{ ...known, knownAtOnce: most }],
    of('30 and 10 a second, 20 s each', '85', 20, {
      kind: 'breathing',
      high: 30,
      low: 10,
      periodMs: 40_000,
    }),
    of('20 a second beside a neighbour', '90', 14, {
      kind: 'neighbour',
      perSecond: 20,
      most: 0.6,
      turnMs: 5_000,
    }),
    of('31 a second, fixed', '98.5 / 0.4', 31),
  ]
}

/** Limits that are no counts of windows, and the first half minute of a cold run. The network adds nothing here. */
function shaped(): PacingScenario[][] {
  const of = (
    label: string,
    goal: string,
    learnSeconds: number,
    seconds: number,
    served: number,
    shape: Shape,
  ) =>
    scenario('shape', label, goal, 1, learnSeconds, [
      [{ kind: 'fixed', limit: served, windowMs: 1_000, shape }],
      seconds,
    ])
  const atOnce = (most: number, serviceMs: number) => {
    const served = (most * 1_000) / serviceMs
    const shape = { kind: 'at-once', most, serviceMs } as const
    const label = `${most} at once, ${serviceMs} ms each`
    return {
      learned: of(label, '93 / 0.5', 30, 90, served, shape),
      known: { ...of(`${label}, known beforehand`, 'none', 2, 22, served, shape), knownAtOnce: most },
    }
  }
  const few = atOnce(6, 40)
  const slow = atOnce(10, 200)
  const cold = (kind: Rule['kind'], limit: number) =>
    scenario('cold', `first 30 s, ${limit} a second, ${kind}`, '85 / 2', 1, 0, [[second(kind, limit)], 31])
  return [
    [
      of('20 a second, spaced, 1 extra', '95 / 0.5', 30, 120, 20, {
        kind: 'spaced',
        perSecond: 20,
        burst: 1,
      }),
      of('100 a second, spaced, 2 extra', '95 / 0.5', 30, 120, 100, {
        kind: 'spaced',
        perSecond: 100,
        burst: 2,
      }),
      of('20 a second, 5 s closed after a refusal', '95', 60, 180, 20, {
        kind: 'penalty',
        perSecond: 20,
        penaltyMs: 5_000,
      }),
    ],
    [
      few.learned,
      slow.learned,
      of('30 and 10 a second, 20 s each', '85', 40, 180, 20, {
        kind: 'breathing',
        high: 30,
        low: 10,
        periodMs: 40_000,
      }),
      of('20 a second beside a neighbour', '90', 30, 180, 14, {
        kind: 'neighbour',
        perSecond: 20,
        most: 0.6,
        turnMs: 5_000,
      }),
    ],
    [few.known, slow.known],
    [cold('fixed', 10), cold('sliding', 50)],
    [cold('fixed', 200)],
  ]
}

/** The same kinds of scenarios in a few seconds. */
export function quickWaves(): PacingScenario[][] {
  return [
    [
      scenario('200', '200 a second, fixed', '', 1, 1, [[second('fixed', 200)], 4]),
      scenario('50', '50 a second, sliding', '', 4, 1, [[second('sliding', 50)], 4]),
      scenario(
        'change',
        '50 a second fixed, halved',
        '',
        1,
        0,
        [[second('fixed', 50)], 2],
        [[second('fixed', 25)], 2],
      ),
    ],
  ]
}

export function scenario(
  group: PacingScenario['group'],
  label: string,
  goal: string,
  processes: 1 | 4,
  learnSeconds: number,
  ...phases: [Rule[], number][]
): PacingScenario {
  const id = `${label.replace(/[^a-z0-9]+/gi, '-')}-${processes}`
  return {
    id,
    group,
    label,
    goal,
    processes,
    learnSeconds,
    phases: phases.map(([rules, seconds]) => ({ rules, seconds })),
  }
}
