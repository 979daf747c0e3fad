/** Runs an image by runc as an engine would: its user and command, a read-only root, no capabilities. The network is that of the host. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OciImage } from './oci-image.ts'

export interface Container extends AsyncDisposable {
  output(): string
  /** Runs a program inside, as the user of the image. */
  exec(...command: readonly string[]): ExecResult
  /** Runs commands of a page, in which `docker exec` and `docker compose exec` mean this container. */
  runAsPrinted(script: string, folder: string): string
  signal(name: 'TERM' | 'KILL'): void
  /** Its exit code. */
  readonly ended: Promise<number | null>
}

export interface ExecResult {
  readonly status: number | null
  readonly output: string
}

export interface ContainerOptions {
  readonly image: OciImage
  /** For the files of runc. */
  readonly folder: string
  /** Host folders or files by where the container sees them. */
  readonly volumes?: Readonly<Record<string, string>>
  readonly readOnly?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Instead of the command of the image. */
  readonly command?: readonly string[]
}

/** Why runc cannot run here; `false` if it can. */
export function namespacesSkipReason(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root on Linux can unpack and run an image here'
  const { status } = spawnSync('unshare', ['-m', '-p', '-f', '-u', '-i', 'true'], { stdio: 'ignore' })
  return status === 0 ? false : 'this machine allows no namespaces'
}

export async function startContainer(runc: string, options: ContainerOptions): Promise<Container> {
  const id = `parley-${randomBytes(6).toString('hex')}`
  const bundle = join(options.folder, id)
  await mkdir(bundle, { recursive: true })
  await writeFile(join(bundle, 'config.json'), JSON.stringify(runtimeConfig(options)))
  const base = ['--root', join(options.folder, 'runc')]
  const call = (...args: readonly string[]) => spawnSync(runc, [...base, ...args], { encoding: 'utf8' })
  const child = spawn(runc, [...base, 'run', '--bundle', bundle, id], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    output: () => said,
    exec(...command) {
      const { status, stdout, stderr } = call('exec', id, ...command)
      return { status, output: stdout + stderr }
    },
    runAsPrinted(script, folder) {
      // docker [compose] exec [-e NAME=value] <container> <command…>
      const docker = `docker() {
  [ "$1" = compose ] && shift
  shift
  if [ "$1" = -e ]; then variable=$2; shift 2; else variable=A=; fi
  shift
  '${runc}' --root '${join(options.folder, 'runc')}' exec --env "$variable" ${id} "$@"
}`
      return execFileSync('sh', ['-ec', `${docker}\n${script}`], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
    },
    signal: (name) => void call('kill', id, name),
    ended,
    async [Symbol.asyncDispose]() {
      call('kill', id, 'KILL')
      await ended
      call('delete', '--force', id)
    },
  }
}

function runtimeConfig({ image, volumes = {}, readOnly = {}, env = {}, command }: ContainerOptions): object {
  const [uid, gid] = image.config.User.split(':').map(Number)
  const bind = (files: Readonly<Record<string, string>>, mode: 'ro' | 'rw'): object[] =>
    Object.entries(files).map(([destination, source]) => ({
      destination,
      source,
      type: 'bind',
      options: ['rbind', mode, 'nosuid', 'nodev'],
    }))
  return {
    ociVersion: '1.0.2',
    root: { path: image.rootfs, readonly: true },
    process: {
      terminal: false,
      user: { uid, gid },
      args: [...image.config.Entrypoint, ...(command ?? image.config.Cmd)],
      env: [...image.config.Env, ...Object.entries(env).map((pair) => pair.join('='))],
      cwd: image.config.WorkingDir,
      noNewPrivileges: true,
      capabilities: {},
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=64k'] },
      { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777', 'size=64m'] },
      ...bind(readOnly, 'ro'),
      ...bind(volumes, 'rw'),
    ],
    linux: {
      namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })),
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
    },
  }
}
