import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onPath } from '../faults/servers.ts'
import type { DockerEngine } from './docker-engine.ts'

const root = join(import.meta.dirname, '../..')
const programs = 'dash cat ls mkdir chown ln cp mv rm tar gzip env id uname touch'.split(' ')
/** Authorities of this machine, where a proxy in the way to the registry has one of its own. */
const authorities = '/etc/ssl/certs/ca-certificates.crt'

/**
 * Returns the name of the base image: the one of the Dockerfile, if the engine has it, or else one that is made of the system's
 * own files: the Node that package.json pins, npm, a shell and the libraries that they load.
 */
export function baseImage(docker: DockerEngine, published: string): string {
  if (docker.tryDocker('image', 'inspect', published).status === 0) return published
  const name = 'paydirt-test-base'
  const folder = mkdtempSync(join(tmpdir(), 'paydirt-base-'))
  try {
    fill(folder)
    const env = `ENV PATH=/usr/local/bin:/usr/bin:/bin NODE_EXTRA_CA_CERTS=${authorities}`
    const tarball = `${folder}.tar`
    const packed = spawnSync('tar', ['-C', folder, '-cf', tarball, '.'], { encoding: 'utf8' })
    if (packed.status !== 0) throw new Error(`tar: ${packed.stderr}`)
    docker.docker('import', '--change', env, '--change', 'CMD ["node"]', tarball, name)
    return name
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(`${folder}.tar`, { force: true })
  }
}

function fill(folder: string): void {
  const inside = (path: string) => join(folder, path)
  for (const path of ['usr/local/bin', 'usr/local/lib/node_modules', 'usr/bin', 'usr/lib', 'usr/lib64'])
    mkdirSync(inside(path), { recursive: true })
  for (const path of ['tmp', 'root', 'proc', 'sys', 'dev', 'var', 'etc', 'home/node'])
    mkdirSync(inside(path), { recursive: true })
  chmodSync(inside('tmp'), 0o1777)
  for (const path of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${path}`, inside(path))
  copyFileSync(join(root, 'node_modules/node/bin/node'), inside('usr/local/bin/node'))
  cpSync(npmFolder(), inside('usr/local/lib/node_modules/npm'), { recursive: true, dereference: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', inside('usr/local/bin/npm'))
  for (const program of programs)
    copyFileSync(realpathSync(onPath(program) as string), inside(`usr/bin/${program}`))
  symlinkSync('dash', inside('usr/bin/sh'))
  const libraries = new Set(
    ['usr/local/bin/node', ...programs.map((program) => `usr/bin/${program}`)].flatMap((path) =>
      librariesOf(inside(path)),
    ),
  )
  // Loaded by name: for host names, and by native packages that the build uses.
  const beside = dirname([...libraries].find((path) => path.includes('/libc.so'))!)
  for (const library of [
    'libnss_files.so.2',
    'libnss_dns.so.2',
    'libresolv.so.2',
    'librt.so.1',
    'libutil.so.1',
  ])
    libraries.add(join(beside, library))
  for (const library of libraries) {
    if (!existsSync(library)) continue
    mkdirSync(dirname(inside(library)), { recursive: true })
    copyFileSync(realpathSync(library), inside(library))
  }
  mkdirSync(inside(dirname(authorities)), { recursive: true })
  if (existsSync(authorities)) copyFileSync(authorities, inside(authorities))
  writeFileSync(inside('etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n')
  writeFileSync(inside('etc/group'), 'root:x:0:\nnode:x:1000:\n')
  if (process.getuid?.() === 0) chownSync(inside('home/node'), 1000, 1000)
}

function npmFolder(): string {
  const program = realpathSync(onPath('npm') as string)
  const folder = dirname(dirname(program))
  if (!readdirSync(folder).includes('package.json')) throw new Error(`no npm at ${folder}`)
  return folder
}

function librariesOf(program: string): string[] {
  const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' })
  return stdout.match(/\/\S+/g)?.filter((path) => !path.endsWith(':')) ?? []
}
