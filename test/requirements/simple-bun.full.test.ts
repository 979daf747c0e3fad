/** The simple module on Bun, for which its document was written: the same tests, and a `Database` of `bun:sqlite`. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { root } from '../examples/program.ts'
import { findBun } from './find-bun.ts'

const found = findBun()
const bun = 'bun' in found ? found.bun : ''
const skip = 'missing' in found && found.missing

function runBun(...args: readonly string[]): { readonly status: number | null; readonly text: string } {
  // With the mark of the runner, tests would report to this process.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(bun, args, { cwd: root, env, encoding: 'utf8', timeout: guardMs })
  return { status, text: stdout + stderr }
}

const program = `
import { Database } from 'bun:sqlite'
import { handleTaskGet, handleTaskSend } from '@parley/a2a/simple'

const db = new Database(':memory:')
db.run('CREATE TABLE agents (id, name, default_project_id)')
db.run('CREATE TABLE sessions (id INTEGER PRIMARY KEY, agent_id, project_id, source)')
db.run("INSERT INTO agents VALUES ('a1', 'Ada', NULL), ('a2', 'Grace', 'p1')")
let emit
const deps = {
  db,
  processManager: { subscribe: (id, listener) => (emit = (event) => listener(id, event)), startProcess() {} },
  listAgents: (tables) => tables.query('SELECT id, name, default_project_id AS defaultProjectId FROM agents').all(),
  createSession(tables, { agentId, projectId, source }) {
    const insert = 'INSERT INTO sessions (agent_id, project_id, source) VALUES (?, ?, ?)'
    return { id: String(tables.run(insert, [agentId, projectId, source]).lastInsertRowid) }
  },
}
const { id } = handleTaskSend(deps, { message: 'Hello' })
emit({ type: 'assistant', content: 'Hi there' })
emit({ type: 'session_exited' })
const { state, sessionId, messages } = handleTaskGet(id)
const sessions = db.query('SELECT agent_id, project_id, source FROM sessions').all()
console.log(JSON.stringify({ state, sessionId, answer: messages.at(-1).parts[0].text, sessions }))
`

describe('the simple module on Bun', { skip }, () => {
  for (const name of ['simple-tasks', 'simple-cards', 'simple-remote', 'simple-docs'])
    it(`passes ${name}.test.ts`, () => {
      const { status, text } = runBun('test', '--conditions=parley-source', `./test/requirements/${name}.test.ts`)
      assert.equal(status, 0, text)
      assert.match(text, /^ [1-9]\d* pass$/m)
      assert.match(text, /^ 0 fail$/m)
    })

  it('reads agents and sessions from tables of bun:sqlite [S0-6]', () => {
    // Below the root, where the packages are found.
    const folder = mkdtempSync(join(import.meta.dirname, '.bun-'))
    after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'main.mjs')
    writeFileSync(file, program)
    const { status, text } = runBun('--conditions=parley-source', file)
    assert.equal(status, 0, text)
    assert.deepEqual(JSON.parse(text), {
      state: 'completed',
      sessionId: '1',
      answer: 'Hi there',
      sessions: [{ agent_id: 'a2', project_id: 'p1', source: 'agent' }],
    })
  })
})
