import { advertisementsAtHome, advertisementsOfMove, type Advertisement } from './advertisements.ts'
import type { WorldClock } from './clock.ts'
import { dayOf } from './clock.ts'
import { footprintsAtHome, footprintsOfMove, type Footprint } from './clouds.ts'
import { worldCompanies, type WorldCompany } from './companies.ts'
import { jobsAtHome, jobsOfMove, type Job } from './jobs.ts'
import { movesOn, type Move } from './moves.ts'
import { newsAtHome, newsOfMove, type NewsItem } from './news.ts'
import type { MoveSignal } from './signal.ts'

/** Rows of one kind, the newest first, and those of each company by its index. */
export interface Shelf<T> {
  all: readonly T[]
  of(company: WorldCompany): readonly T[]
}

/** The world on one day. Each shelf is filled when it is first read. */
export interface WorldDay {
  day: number
  moves: Shelf<Move>
  jobs: Shelf<Job>
  news: Shelf<NewsItem>
  advertisements: Shelf<Advertisement>
  footprints: Shelf<Footprint>
  signals: Shelf<SeenSignal>
}

/** A signal with the move that it belongs to. */
interface SeenSignal {
  company: WorldCompany
  move: Move
  signal: MoveSignal
}

export interface World {
  clock: WorldClock
  today(): WorldDay
}

/** Twenty thousand companies and what they do, by a clock. Every sandbox has the same world. */
export function createWorld(clock: WorldClock): World {
  return {
    clock,
    today() {
      const day = dayOf(clock.now())
      if (latest?.day === day) return latest
      const before = earlier?.deref()
      earlier = latest && new WeakRef(latest)
      latest = before?.day === day ? before : openDay(day)
      return latest
    },
  }
}

// Shared by all sandboxes of a process, since a day depends on nothing but its number. A day takes some 60 MB, so the one
// before, for whoever goes back and forth, is kept only while the memory is not needed.
let latest: WorldDay | undefined
let earlier: WeakRef<WorldDay> | undefined

function openDay(day: number): WorldDay {
  const moves = shelf(
    () => movesOn(day),
    ({ lastDay }) => lastDay,
  )
  const rows = <T extends { company: WorldCompany; day: number }>(
    ofMove: (move: Move, today: number) => T[],
    atHome: (company: WorldCompany, today: number) => T[],
  ) =>
    shelf<T>(
      () => [
        ...moves.all.flatMap((move) => ofMove(move, day)),
        ...worldCompanies().flatMap((company) => atHome(company, day)),
      ],
      (row) => row.day,
    )
  return {
    day,
    moves,
    jobs: rows(jobsOfMove, jobsAtHome),
    news: rows(newsOfMove, newsAtHome),
    advertisements: rows(advertisementsOfMove, advertisementsAtHome),
    footprints: rows(footprintsOfMove, footprintsAtHome),
    signals: shelf(
      () =>
        moves.all.flatMap((move) => move.signals.map((signal) => ({ company: move.company, move, signal }))),
      ({ signal }) => signal.day,
    ),
  }
}

function shelf<T extends { company: WorldCompany }>(fill: () => T[], dayOfRow: (row: T) => number): Shelf<T> {
  let all: T[] | undefined
  let byCompany: Map<number, T[]> | undefined
  const filled = () =>
    (all ??= fill().sort((a, b) => dayOfRow(b) - dayOfRow(a) || a.company.index - b.company.index))
  return {
    get all() {
      return filled()
    },
    of({ index }) {
      byCompany ??= Map.groupBy(filled(), ({ company }) => company.index)
      return byCompany.get(index) ?? []
    },
  }
}
