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
  /** @type {'loading' | 'idle' | 'requesting' | 'following' | 'left'} */
  phase = 'loading'
  problem = ''
  /** @type {import('./enrichment').Result | undefined} */
  result
  taskId = ''
  /** @type {string | undefined} */
  shownId
  // Increases with each request and when the window closes, so that a late response is ignored.
  generation = 0

  // The platform sets the id after the window is connected, so the first request starts here.
  @api
  get recordId() {
    return this.shownId
  }
  set recordId(/** @type {string | undefined} */ value) {
    if (value === this.shownId) return
    this.shownId = value
    if (value) this.showLast(value)
  }

  disconnectedCallback() {
    this.generation += 1
  }

  get isLoading() {
    return this.phase === 'loading'
  }

  get isBusy() {
    return this.phase === 'requesting' || this.phase === 'following'
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
    await this.during('requesting', async (isCurrent) => {
      await this.watch(recordId, readAnswer(await enrich({ recordId })), isCurrent)
    })
  }

  async handleCheckAgain() {
    const { shownId: recordId, taskId } = this
    if (!recordId || !taskId) return
    await this.during('following', async (isCurrent) => {
      await this.watch(recordId, readAnswer(await readStatus({ recordId, taskId })), isCurrent)
    })
  }

  handleClose() {
    this.dispatchEvent(new CloseActionScreenEvent())
  }

  /** @param {string} recordId */
  async showLast(recordId) {
    await this.during('loading', async (isCurrent) => {
      const last = readLast(await readStatus({ recordId }))
      if (!isCurrent()) return
      this.result = last
      this.phase = 'idle'
    })
  }

  /**
   * @param {string} recordId
   * @param {import('./enrichment').Answer} first
   * @param {() => boolean} isCurrent
   */
  async watch(recordId, first, isCurrent) {
    /** @param {import('./enrichment').Answer} answer */
    const show = (answer) => {
      if (!isCurrent()) return
      this.result = answer
      this.taskId = answer.taskId
    }
    show(first)
    if (!first.done && isCurrent()) this.phase = 'following'
    const answer = await follow({
      first,
      ask: async (taskId) => readAnswer(await readStatus({ recordId, taskId })),
      onAnswer: show,
      pause: async (ms) => {
        await sleep(ms)
        return isCurrent()
      },
    })
    if (!isCurrent()) return
    this.phase = answer.done ? 'idle' : 'left'
    if (answer.status === 'written') await notifyRecordUpdateAvailable([{ recordId }])
  }

  /**
   * @param {'loading' | 'requesting' | 'following'} phase
   * @param {(isCurrent: () => boolean) => Promise<void>} work
   */
  async during(phase, work) {
    const own = ++this.generation
    const isCurrent = () => this.generation === own
    this.phase = phase
    this.problem = ''
    try {
      await work(isCurrent)
    } catch (error) {
      if (!isCurrent()) return
      this.problem = problemText(error)
      // The phase may have changed from requesting to following.
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
    // The caller checks afterwards that the window is still open.
    // eslint-disable-next-line @lwc/lwc/no-async-operation
    setTimeout(resolve, ms)
  })
}
