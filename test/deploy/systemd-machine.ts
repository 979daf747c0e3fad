/**
 * A real systemd in namespaces of its own, over the files of this machine, which it does not change. It shares the network, so that
 * tests reach the hub by loopback.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface SystemdMachine extends AsyncDisposable {
  /** The output of a shell command inside, in a folder with the file `parley` and the folder `deploy/systemd`. */
  sh(script: string): string
  /** A property of the unit, such as `MainPID`. */
  property(name: string): string
  /** What the hub has printed. */
  output(): string
}

const units = join(import.meta.dirname, '../../deploy/systemd')
const script = join(import.meta.dirname, 'boot-systemd.sh')

/** Why there can be no such machine here; `false` if there can. */
export function systemdSkipReason(): string | false {
  if (process.getuid?.() !== 0) return 'only root can boot systemd in namespaces'
  if (!existsSync('/lib/systemd/systemd')) return 'systemd is not installed'
  const { status, stderr } = spawnSync('unshare', ['-m', '-p', '-f', '-C', '-u', '-i', 'true'], { encoding: 'utf8' })
  return status === 0 ? false : `this machine allows no namespaces: ${stderr ?? 'no unshare'}`
}

/** `bundle` is a folder of `npm run bundle`. */
export async function bootSystemd(bundle: string): Promise<SystemdMachine> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-systemd-'))
  for (const name of ['machine', 'out']) await mkdir(join(folder, name))
  await cp(units, join(folder, 'units'), { recursive: true })
  const child = spawn('sh', [script, folder, process.execPath, bundle], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()))
  const closed = once(child, 'close')
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  const output = (): string =>
    existsSync(join(folder, 'out/log')) ? readFileSync(join(folder, 'out/log'), 'utf8') : said
  const sh = (script: string): string => {
    const pid = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
    const command = ['nsenter', '-t', pid, '-a', 'sh', '-ec', `cd /run/install\n${script}`] as const
    const { status, stdout, stderr } = spawnSync(command[0], command.slice(1), { encoding: 'utf8' })
    if (status === 0) return stdout
    throw new Error(`${script}\nended with ${status}:\n${stdout}${stderr}\nThe hub has printed:\n${output()}`)
  }
  const machine: SystemdMachine = {
    sh,
    property: (name) => sh(`systemctl show --value --property=${name} parley.service`).trim(),
    output,
    async [Symbol.asyncDispose]() {
      // Its child is process 1, which ends with it, and with process 1 the whole namespace.
      child.kill('SIGKILL')
      await closed
      await removeGroups(folder)
      await rm(folder, { recursive: true, force: true })
    },
  }
  while (!isBooted(machine)) {
    if (hasEnded()) throw new Error(`systemd did not boot:\n${said}`)
    await sleep(50)
  }
  return machine
}

function isBooted({ sh }: SystemdMachine): boolean {
  try {
    return sh('systemctl is-active machine.target').trim() === 'active'
  } catch {
    return false
  }
}

/** A control group can be removed when its last process has gone, which takes a moment. */
async function removeGroups(folder: string): Promise<void> {
  const groups = (await readFile(join(folder, 'cgroups'), 'utf8').catch(() => '')).split('\n').filter(Boolean)
  for (const group of groups) {
    for (let tries = 0; existsSync(group) && tries < 100; tries += 1) {
      spawnSync('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'], { stdio: 'ignore' })
      if (existsSync(group)) await sleep(50)
    }
  }
}
