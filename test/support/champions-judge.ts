import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** The document that the judge reads. */
export interface JudgedChampions {
  champions: readonly { id: string; slug: string; before: unknown; after: unknown }[]
  companies: Readonly<Record<string, unknown>>
  records: readonly {
    id: string
    slug: string | null
    firstName: string
    lastName: string
    mailDomain: string
  }[]
}

export type ChampionVerdicts = Record<string, { outcome: string; to: string | null; at: string | null }>

/** Returns the verdicts of `scripts/judge/champions.mjs`, a process of its own that imports nothing of this project. */
export async function judgeChampions(world: JudgedChampions): Promise<ChampionVerdicts> {
  const script = join(import.meta.dirname, '../../scripts/judge/champions.mjs')
  const judge = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  judge.stdin.end(JSON.stringify(world))
  return JSON.parse(await text(judge.stdout)) as ChampionVerdicts
}
