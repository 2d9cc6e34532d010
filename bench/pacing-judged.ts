import type { JudgeRule } from './judge.ts'
import type { Rule } from './limit-server.ts'
import { scenario, type PacingScenario } from './pacing-scenarios.ts'

/** Limits that we did not write: nginx, HAProxy, and a package that services in Node use. */
export function judgedWaves(): PacingScenario[][] {
  const spaced = [20, 100].map((perSecond) =>
    [1, 5].map((burst) =>
      judgedBy('nginx', `nginx limit_req, ${perSecond}r/s burst=${burst} nodelay`, '95 / 0.5', 120, [
        { kind: 'limit_req', perSecond, burst },
      ]),
    ),
  )
  const atOnce = (most: readonly number[], serviceMs: number, goal: string, seconds = 120) =>
    judgedBy(
      'nginx',
      `nginx limit_conn ${most.join(', then ')}, ${serviceMs} ms each`,
      goal,
      seconds,
      most.map((each) => ({ kind: 'limit_conn', atOnce: each, perSecond: (1_000 * each) / serviceMs })),
      serviceMs,
    )
  const estimated = [20, 100].map((perSecond) =>
    judgedBy('haproxy', `HAProxy http_req_rate(1s) gt ${perSecond}`, '97 / 0.5', 120, [
      { kind: 'http_req_rate', perSecond },
    ]),
  )
  const blocked = (perSecond: number, blockMs: number) =>
    scenario(
      'library',
      `rate-limiter-flexible, ${perSecond} a second, ${blockMs / 1_000} s blocked after a refusal`,
      '95',
      1,
      60,
      [
        [
          {
            kind: 'fixed',
            limit: perSecond,
            windowMs: 1_000,
            shape: { kind: 'library', perSecond, blockMs },
          },
        ],
        240,
      ],
    )
  return [
    ...spaced,
    [atOnce([6], 100, '93 / 0.5'), atOnce([10], 200, '93 / 0.5')],
    [atOnce([8, 4, 8], 150, 'none', 80), atOnce([3, 9, 3], 300, 'none')],
    estimated,
    [blocked(20, 3_000), blocked(30, 10_000), blocked(15, 25_000)],
  ]
}

function judgedBy(
  program: 'nginx' | 'haproxy',
  label: string,
  goal: string,
  seconds: number,
  rules: JudgeRule[],
  serviceMs?: number,
): PacingScenario {
  const phases = rules.map(({ perSecond }): [Rule[], number] => [
    [{ kind: 'fixed', limit: perSecond, windowMs: 1_000 }],
    seconds,
  ])
  const judge = { program, rules, ...(serviceMs !== undefined && { serviceMs }) }
  return { ...scenario(program, label, goal, 1, 30, ...phases), judge }
}
