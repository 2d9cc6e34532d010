import { html } from 'hono/html'
import type { Problem, ProblemStatus } from '../../server/problem.ts'
import { mark } from './icons.ts'
import { barePage, layout, type Shell } from './layout.ts'
import type { Markup } from './parts.ts'

const titles: Partial<Record<ProblemStatus, string>> = {
  400: 'Not possible',
  401: 'Sign in first',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Not a page to open',
  413: 'Too large',
  500: 'Something went wrong',
  503: 'Not available now',
}

export interface ErrorFrame {
  /** With the navigation; undefined when the visitor is unknown, or while the shell cannot be read. */
  shell: Shell | undefined
  bare: Pick<Shell, 'visitor' | 'asset'>
  requestId: string
}

/** Returns the page of a refusal or a failure, in the frame of the desk where the visitor may see it. */
export function errorPage(problem: Problem, { shell, bare, requestId }: ErrorFrame): Markup {
  const { status, message } = problem
  const title = titles[status] ?? 'Not possible'
  const details = html`<p class="error-text">${message}</p>
    <p class="error-ways">
      ${status === 503 ? html`<a href="">Try again</a>` : ''}<a href="/">To the page Now</a>
    </p>
    <p class="note">Status ${status}${status >= 500 ? html`, request <code>${requestId}</code>` : ''}</p>`
  if (shell)
    return layout(shell, {
      title,
      current: '',
      body: html`<section class="card error-page">${details}</section>`,
    })
  return barePage(bare, {
    title,
    body: html`<div class="sign-in error-page">
      <p class="brand">${mark}<span>Paydirt</span></p>
      <h1>${title}</h1>
      ${details}
    </div>`,
  })
}
