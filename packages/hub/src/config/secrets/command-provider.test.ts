import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { commandProvider } from './command-provider.ts'
import { secretProviderContract } from './testing/secret-provider-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'))
after(() => rmSync(folder, { recursive: true }))
const env = { PATH: process.env['PATH'] ?? '' }
/** Prints the file of the name, in this folder alone; `hang` waits for ever. */
const script = 'case "$1" in hang) exec sleep 600;; */*|-*) exit 2;; *) cat "./$1";; esac'
const command = ['sh', '-c', script, 'sh', '{name}']
const never = new AbortController().signal

secretProviderContract('a program', async () => {
  writeFileSync(join(folder, 'api-key'), 'the value of it\n')
  return {
    provider: commandProvider({ command, cwd: folder, env }),
    name: 'api-key',
    value: 'the value of it',
    change: async (value) => writeFileSync(join(folder, 'api-key'), value),
    hangingName: 'hang',
  }
})

describe('a program that prints secrets', { timeout: 120_000 }, () => {
  const read = (...words: string[]) => commandProvider({ command: words, cwd: folder, env }).read('name', never)

  it('is reported with what it said, if it fails', async () => {
    await assert.rejects(read('sh', '-c', 'echo "no token" >&2; exit 3'), /^Error: sh failed with 3: no token$/)
    const silent = commandProvider({
      command: ['sh', '-c', 'echo sesame >&2; exit 3'],
      cwd: folder,
      env,
      quotesStderr: false,
    })
    await assert.rejects(silent.read('name', never), /^Error: sh failed with 3$/)
    await assert.rejects(read('no-such-program'), /no-such-program was not found/)
    await assert.rejects(read('true'), /the output of true is empty/)
    await assert.rejects(read('head', '-c', '100000', '/dev/zero'), /is larger than 64000 bytes/)
  })

  it('gets the environment of its provider and nothing else', async () => {
    const provider = commandProvider({
      command: ['sh', '-c', 'echo "$TOKEN$HOME"'],
      cwd: folder,
      env: { ...env, TOKEN: 't' },
    })
    assert.equal(await provider.read('x', never), 't')
  })

  it('is ended after its time, also if it ignores SIGTERM', async () => {
    const stubborn = ['sh', '-c', 'trap "" TERM; echo $$ > "$1"; while :; do sleep 0.1; done', 'sh', '{name}']
    const isRunning = (name: string): boolean => {
      try {
        return process.kill(Number(readFileSync(join(folder, name), 'utf8')), 0)
      } catch {
        return false
      }
    }
    const provider = commandProvider({ command: stubborn, cwd: folder, env })
    await assert.rejects(provider.read('pid', AbortSignal.timeout(500)), /sh did not end in time/)
    while (isRunning('pid')) await new Promise((resolve) => setTimeout(resolve, 10))
  })
})
