import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Hono } from 'hono'
import type { DeskEnv } from './access/gate.ts'

const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** Everything that the pages load, read once: nothing comes from another host. */
export function createAssets(): { path: (name: string) => string; routes: () => Hono<DeskEnv> } {
  const own = join(import.meta.dirname, 'assets')
  // The package's entry is in dist/, beside the files that browsers load.
  const uplot = dirname(createRequire(import.meta.url).resolve('uplot'))
  const files: Record<string, string> = {
    'desk.css': join(own, 'desk.css'),
    'desk.js': join(own, 'desk.js'),
    'chart.js': join(own, 'chart.js'),
    'board.css': join(own, 'board.css'),
    'icon.svg': join(own, 'icon.svg'),
    'uplot.js': join(uplot, 'uPlot.iife.min.js'),
    'uplot.css': join(uplot, 'uPlot.min.css'),
  }
  const assets = new Map(
    Object.entries(files).map(([name, file]) => {
      const content = readFileSync(file)
      return [name, { content, hash: createHash('sha256').update(content).digest('hex').slice(0, 16) }]
    }),
  )

  return {
    /** With its hash: a browser may keep it for ever, and a new version has another address. */
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
        context.header('content-type', types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream')
        return context.body(new Uint8Array(asset.content))
      })
      return app
    },
  }
}
