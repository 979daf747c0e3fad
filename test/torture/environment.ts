/** What the deployments of a run share: a folder, the peers that their agents call, webhooks that misbehave, a configuration to reload. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import type { ScriptedReply } from '../../packages/hub/src/agents/testing/scripted-reply.ts'
import { openFaultyReceiver } from '../push/faulty-receiver.ts'
import { configOf, ledgerOf } from './hub-config.ts'

export type TortureEnvironment = Awaited<ReturnType<typeof openTortureEnvironment>>

const replies: Readonly<Record<string, ScriptedReply>> = {
  say: { say: ['one ', 'two ', 'three'] },
  call: { calls: [{ name: 'ask_counter', input: { message: '10 5' } }] },
  cut: { say: ['one ', 'two '], cutAfter: 1 },
  hang: { say: ['one ', 'two '], hangAfter: 1 },
  error: { status: 500, body: 'no' },
  garbage: { status: 200, headers: { 'content-type': 'text/event-stream' }, body: 'data: {no json\n\n' },
}

export async function openTortureEnvironment(name: string, random: () => number) {
  const folder = mkdtempSync(join(tmpdir(), `parley-torture-${name}-`))
  const receiver = await openFaultyReceiver(random)
  const model = await scriptedModel(({ said }) => replies[said] ?? { say: 'what?' })
  const remote = await serve({
    port: 0,
    name: 'Remote',
    store: memoryStore(),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    async *agent({ text, signal }) {
      if (text === 'throw') throw new Error('thrown by the remote agent')
      for (let n = 0; n < 20 && !signal.aborted; n += 1) {
        await sleep(5)
        yield `${n} `
      }
    },
  })
  const configFile = join(folder, 'parley.yaml')
  let revision = 0
  let hasPrograms = false

  /** Writes as editors do. */
  function writeConfig(): void {
    revision += 1
    const text = configOf({ modelUrl: model.url, remoteUrl: remote.url, folder, revision, isHeavy: hasPrograms })
    writeFileSync(`${configFile}.new`, text)
    renameSync(`${configFile}.new`, configFile)
  }
  writeConfig()

  return {
    folder,
    configFile,
    ledger: ledgerOf(folder),
    receiver,
    writeConfig,
    setHeavy(isHeavy: boolean): void {
      if (isHeavy === hasPrograms) return
      hasPrograms = isHeavy
      writeConfig()
    },
    async close() {
      await Promise.all([receiver.close(), model.close(), remote.close()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
