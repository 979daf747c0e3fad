/** Servers of other languages (`--peers`): installs them from their registries into the folder of the benchmark's data. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../.parley/peers')
/** Exact, as all versions that are compared. */
const a2aPython = ['a2a-sdk[http-server,sqlite]==1.3.0', 'uvicorn==0.54.0']

const venvPython = join(root, 'a2a-python/bin/python')

/** The Python that runs a contestant's program. */
export const peerPython = (): string => venvPython

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 600_000 })
}

/** Returns why the Python peers cannot run here; `undefined` if they can. The first call takes about a minute. */
export function installPeers(): string | undefined {
  try {
    if (!existsSync(venvPython)) {
      run('python3', '-c', 'import sys; assert sys.version_info >= (3, 10), "Python 3.10 or newer is needed"')
      mkdirSync(root, { recursive: true })
      run('python3', '-m', 'venv', join(root, 'a2a-python'))
    }
    run(venvPython, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...a2aPython)
    return undefined
  } catch (reason) {
    const { stderr, message } = reason as Error & { readonly stderr?: Buffer }
    return (stderr?.toString().trim().split('\n').at(-1) || message).slice(0, 300)
  }
}
