/** What the program `parley` writes to its log: JSON lines with the ids of tasks, conversations and traces, and no secrets. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { traceIdOfTask } from '@parley/a2a/internal'
import type { Task } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { newFolder } from './open-hub.ts'

const main = join(import.meta.dirname, '../../packages/hub/src/cli/main.ts')

describe('the log of the program', () => {
  it('has JSON lines without a terminal, with task, conversation and trace, and no secrets [B-170 B-171 T-12]', async (t) => {
    const folder = await newFolder(t)
    const file = join(folder, 'parley.yaml')
    await writeFile(
      file,
      [
        'listen: { port: 0, grpcPort: false }',
        'store: "memory:"',
        'agents:',
        `  broken: { kind: module, path: ${JSON.stringify(join(import.meta.dirname, 'agents/broken.ts'))} }`,
        '  gpt: { kind: openai, baseUrl: "http://127.0.0.1:9/v1", model: m, apiKey: "${env:MODEL_KEY}", retries: 0 }',
      ].join('\n'),
    )
    const child = spawn(process.execPath, ['--conditions=parley-source', main, 'up', '-c', file, '--data', folder], {
      env: { ...process.env, MODEL_KEY: 'a-key-that-is-secret' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    let said = ''
    let logged = ''
    child.stderr.on('data', (piece: Buffer) => (logged += piece.toString()))
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (piece: Buffer) => {
        said += piece.toString()
        const [, found] = /listening on (\S+)/.exec(said) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once('exit', () => reject(new Error(`it ended: ${said}${logged}`)))
    })
    const task = (await (await connect(`${url}/a2a/broken`)).send('hi')) as unknown as Task
    await (await connect(`${url}/a2a/gpt`)).send('hi')
    child.kill('SIGTERM')
    await once(child, 'exit')
    const lines = logged
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const line = lines.find(({ message }) => message === 'agent failed')
    assert.deepEqual(
      [line?.['level'], line?.['agent'], line?.['taskId'], line?.['contextId'], line?.['traceId']],
      ['error', 'broken', task.id, task.contextId, traceIdOfTask(task.id)],
    )
    assert.ok(lines.every(({ time, level }) => typeof time === 'string' && typeof level === 'string'))
    assert.doesNotMatch(logged, /hunter2|abcdefghijklmnop|a-key-that-is-secret/)
    assert.match(logged, /Bearer \[redacted\]/)
  })
})
