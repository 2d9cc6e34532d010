import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Hono } from 'hono'
import type { DeskEnv } from './access/gate.ts'

const contentTypes: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

const folder = join(import.meta.dirname, 'assets')

/** Reads every file that the pages load, once. Nothing comes from another host. */
export function createAssets(): { path: (name: string) => string; routes: () => Hono<DeskEnv> } {
  // The entry of the package is in dist/, next to the files for browsers.
  const uplot = dirname(createRequire(import.meta.url).resolve('uplot'))
  const contents: Record<string, Buffer> = {
    'desk.css': deskStyles(),
    'desk.js': readFileSync(join(folder, 'desk.js')),
    'chart.js': readFileSync(join(folder, 'chart.js')),
    'board.css': readFileSync(join(folder, 'board.css')),
    'board.js': readFileSync(join(folder, 'board.js')),
    'icon.svg': readFileSync(join(folder, 'icon.svg')),
    'uplot.js': readFileSync(join(uplot, 'uPlot.iife.min.js')),
    'uplot.css': readFileSync(join(uplot, 'uPlot.min.css')),
  }
  const assets = new Map(
    Object.entries(contents).map(([name, content]) => [
      name,
      { content, hash: createHash('sha256').update(content).digest('hex').slice(0, 16) },
    ]),
  )

  return {
    /** Returns an address that contains the hash, so that browsers can cache it for ever. */
    path(name) {
      const asset = assets.get(name)
      if (!asset) throw new Error(`no such asset: ${name}`)
      return `/desk/assets/${asset.hash}/${name}`
    },

    routes() {
      const app = new Hono<DeskEnv>()
      app.get('/:hash/:name', (context) => {
        const { hash, name } = context.req.param()
        const asset = assets.get(name)
        if (!asset) return context.notFound()
        const etag = `"${asset.hash}"`
        context.header('etag', etag)
        context.header('x-content-type-options', 'nosniff')
        context.header('cross-origin-resource-policy', 'same-origin')
        context.header(
          'cache-control',
          hash === asset.hash ? 'public, max-age=31536000, immutable' : 'no-cache',
        )
        if (context.req.header('if-none-match') === etag) return context.body(null, 304)
        context.header(
          'content-type',
          contentTypes[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
        )
        return context.body(new Uint8Array(asset.content))
      })
      return app
    },
  }
}

/** Joins the stylesheets into one file, general rules before those of a page: a page loads one file, not sixteen. */
function deskStyles(): Buffer {
  const styles = join(folder, 'styles')
  const filesOf = (room: string) =>
    readdirSync(join(styles, room))
      .sort()
      .map((name) => join(room, name))
  const files = [
    'tokens.css',
    'base.css',
    'layout.css',
    ...filesOf('components'),
    ...filesOf('pages'),
    'print.css',
  ]
  return Buffer.concat(files.map((file) => readFileSync(join(styles, file))))
}
