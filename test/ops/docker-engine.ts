import { execFile, spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onPath } from '../faults/servers.ts'

export interface DockerEngine {
  /** Runs `docker` and returns its standard output. Throws when it fails. */
  docker(...args: string[]): string
  /** The same, with its status and its output instead of an exception. */
  tryDocker(...args: string[]): SpawnSyncReturns<string>
  /** The same while this process goes on answering what the containers ask it for. */
  dockerBeside(...args: string[]): Promise<string>
  stop(): Promise<void>
}

const dockerd = onPath('dockerd') ?? onPath('../sbin/dockerd')

/** Returns the reason for which no engine can be had; undefined when one runs or can be started. */
export function missingDocker(): string | undefined {
  if (onPath('docker') === undefined) return 'docker is not installed'
  if (isRunning(process.env)) return undefined
  if (dockerd === undefined) return 'no Docker engine runs, and dockerd is not installed'
  return process.getuid?.() === 0 ? undefined : 'no Docker engine runs, and only root can start dockerd'
}

function isRunning(env: NodeJS.ProcessEnv): boolean {
  return spawnSync('docker', ['version'], { env, stdio: 'ignore', timeout: 10_000 }).status === 0
}

/** Uses the engine that runs, or else starts one of its own in a folder of its own, without networks but the host's. */
export async function openDocker(): Promise<DockerEngine> {
  // The classic builder is in every engine, and plugins of the client are not.
  const env: NodeJS.ProcessEnv = { ...process.env, DOCKER_BUILDKIT: '0' }
  const end = isRunning(env) ? async () => {} : await startEngine(env)
  function tryDocker(...args: string[]) {
    return spawnSync('docker', args, { env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  }
  return {
    tryDocker,
    async dockerBeside(...args) {
      const { stdout } = await promisify(execFile)('docker', args, { env })
      return stdout.trim()
    },
    docker(...args) {
      const { status, stdout, stderr } = tryDocker(...args)
      if (status !== 0)
        throw new Error(`docker ${args.join(' ')}: ${stdout.slice(-4_000)}${stderr.slice(-4_000)}`)
      return stdout.trim()
    },
    stop: end,
  }
}

async function startEngine(env: NodeJS.ProcessEnv): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'paydirt-docker-'))
  const socket = `unix://${join(folder, 'docker.sock')}`
  env['DOCKER_HOST'] = socket
  const args = ['--data-root', join(folder, 'root'), '--exec-root', join(folder, 'exec')]
  args.push('--pidfile', join(folder, 'pid'), '-H', socket)
  args.push('--iptables=false', '--ip6tables=false', '--bridge=none')
  const child = spawn(dockerd as string, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(child, 'exit')
  const log = join(folder, 'log')
  child.stderr.pipe(createWriteStream(log))
  while (!isRunning(env)) {
    if (child.exitCode !== null) throw new Error(`dockerd ended with ${child.exitCode}; see ${log}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return async () => {
    child.kill('SIGTERM')
    await exited
    await rm(folder, { recursive: true, force: true })
  }
}
