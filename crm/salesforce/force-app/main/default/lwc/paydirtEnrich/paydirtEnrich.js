import { LightningElement, api } from 'lwc'
import { CloseActionScreenEvent } from 'lightning/actions'
import { notifyRecordUpdateAvailable } from 'lightning/uiRecordApi'
import enrich from '@salesforce/apex/PaydirtEnrichController.enrich'
import readStatus from '@salesforce/apex/PaydirtEnrichController.readStatus'
import {
  follow,
  nextText,
  phaseAfterFailure,
  problemText,
  readAnswer,
  readLast,
  rowsOf,
  statusLabels,
} from './enrichment'

/** The window behind the action "Enrich" on an account, contact or lead. */
export default class PaydirtEnrich extends LightningElement {
  /** @type {'loading' | 'idle' | 'asking' | 'following' | 'left'} */
  phase = 'loading'
  problem = ''
  /** @type {import('./enrichment').Result | undefined} */
  result
  taskId = ''
  /** @type {string | undefined} */
  shownId
  // Counts the presses: an answer to an earlier one, or to a closed window, is no longer wanted.
  turn = 0

  // The platform sets it after the window is connected, so that this is the time to ask.
  @api
  get recordId() {
    return this.shownId
  }
  set recordId(/** @type {string | undefined} */ value) {
    if (value === this.shownId) return
    this.shownId = value
    if (value) void this.showLast(value)
  }

  disconnectedCallback() {
    this.turn += 1
  }

  get isLoading() {
    return this.phase === 'loading'
  }

  get isBusy() {
    return this.phase === 'asking' || this.phase === 'following'
  }

  get isNew() {
    return this.phase === 'idle' && !this.result && !this.problem
  }

  get isLeft() {
    return this.phase === 'left'
  }

  get cannotEnrich() {
    return this.isLoading || this.isBusy || !this.shownId
  }

  get statusLabel() {
    return this.result ? statusLabels[this.result.status] : ''
  }

  get rows() {
    return this.result ? rowsOf(this.result) : []
  }

  get next() {
    return this.result ? nextText(this.result) : ''
  }

  async handleEnrich() {
    const recordId = this.shownId
    if (!recordId) return
    await this.during('asking', async (isMine) => {
      await this.watch(recordId, readAnswer(await enrich({ recordId })), isMine)
    })
  }

  async handleLookAgain() {
    const { shownId: recordId, taskId } = this
    if (!recordId || !taskId) return
    await this.during('following', async (isMine) => {
      await this.watch(recordId, readAnswer(await readStatus({ recordId, taskId })), isMine)
    })
  }

  handleClose() {
    this.dispatchEvent(new CloseActionScreenEvent())
  }

  /** @param {string} recordId */
  async showLast(recordId) {
    await this.during('loading', async (isMine) => {
      const last = readLast(await readStatus({ recordId }))
      if (!isMine()) return
      this.result = last
      this.phase = 'idle'
    })
  }

  /**
   * @param {string} recordId
   * @param {import('./enrichment').Answer} first
   * @param {() => boolean} isMine
   */
  async watch(recordId, first, isMine) {
    /** @param {import('./enrichment').Answer} answer */
    const show = (answer) => {
      if (!isMine()) return
      this.result = answer
      this.taskId = answer.taskId
    }
    show(first)
    if (!first.done && isMine()) this.phase = 'following'
    const answer = await follow({
      first,
      ask: async (taskId) => readAnswer(await readStatus({ recordId, taskId })),
      onAnswer: show,
      pause: async (ms) => {
        await sleep(ms)
        return isMine()
      },
    })
    if (!isMine()) return
    this.phase = answer.done ? 'idle' : 'left'
    if (answer.status === 'written') await notifyRecordUpdateAvailable([{ recordId }])
  }

  /**
   * @param {'loading' | 'asking' | 'following'} phase
   * @param {(isMine: () => boolean) => Promise<void>} work
   */
  async during(phase, work) {
    const mine = ++this.turn
    const isMine = () => this.turn === mine
    this.phase = phase
    this.problem = ''
    try {
      await work(isMine)
    } catch (error) {
      if (!isMine()) return
      this.problem = problemText(error)
      // Not the phase that it began with: a press goes on to following.
      this.phase = phaseAfterFailure(this.phase)
    }
  }
}

/**
 * @param {number} ms
 * @returns {Promise<void>}
 */
function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
