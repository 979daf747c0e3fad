/** The examples of frameworks run offline, with the mock model of each package; and the hub recognizes their agents. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { connect } from '@parley/a2a/client'
import { moduleKind } from '../../packages/hub/src/agents/module/index.ts'
import { openKind } from '../../packages/hub/src/agents/testing/open-kind.ts'
import { runProgram } from '../examples/program.ts'
import { detect } from '../../packages/hub/src/agents/detect/index.ts'

/** A copy of an example beside the frameworks, so that its imports find them. */
function copyExample(t: TestContext, name: string): string {
  const folder = mkdtempSync(join(import.meta.dirname, '.example-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(join(import.meta.dirname, '../../examples', name), folder, { recursive: true })
  return folder
}

const examples = [
  {
    name: 'ai-sdk',
    title: 'the AI SDK',
    asks: /pay \{"invoice":"INV-7"/,
    answer: 'yes',
    says: /Done: paid 42 for INV-7/,
  },
  { name: 'langgraph', title: 'LangGraph', asks: /For how many nights\?/, answer: '3', says: /Booked for 3 nights\./ },
  {
    name: 'mastra',
    title: 'Mastra',
    asks: /For how many nights\?/,
    answer: '3',
    says: /Done: booked a room with a view for 3 nights/,
  },
  {
    name: 'openai-agents',
    title: 'the OpenAI Agents SDK',
    asks: /pay \{"invoice":"INV-7"/,
    answer: 'yes',
    says: /Done: paid 42 for INV-7/,
  },
  {
    name: 'claude',
    // Its module calls the adapter itself: `query` is a function, not an agent.
    title: undefined,
    asks: /pay \{"invoice":"INV-7"/,
    answer: 'yes',
    says: /Done: paid 42 for INV-7/,
  },
] as const

for (const { name, title, asks, answer, says } of examples) {
  describe(`the example ${name}`, () => {
    it('asks, and continues with the answer', async (t) => {
      await using program = await runProgram(join(copyExample(t, name), 'main.ts'))
      const agent = await connect(program.url)
      const asked = await agent.send('go')
      assert.ok(asked.kind === 'task')
      assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED', JSON.stringify(asked.status))
      const [question] = asked.status.message?.parts ?? []
      assert.match(question !== undefined && 'text' in question ? question.text : '', asks)
      const done = await agent.send(answer, { taskId: asked.id, contextId: asked.contextId ?? '' })
      assert.match(JSON.stringify(done), says)
    })

    it('is recognized as a module of the hub, which says which adapter it takes', async (t) => {
      const baseDir = copyExample(t, name)
      const { agent, lines } = await openKind(t, moduleKind, { path: './agent.ts' }, { services: { baseDir } })
      assert.deepEqual(
        lines.map(({ message }) => message),
        title === undefined ? [] : [`./agent.ts exports an agent of ${title}, run by @parley/a2a/adapters/${name}`],
      )
      const asked = await agent.send('go')
      assert.match(JSON.stringify(asked), /TASK_STATE_INPUT_REQUIRED/)
    })

    it('is detected when it is added', async (t) => {
      const cwd = copyExample(t, name)
      const found = await detect(['./agent.ts'], { cwd, fetch, env: {}, signal: t.signal, onProgress() {} })
      assert.deepEqual(found, { kind: 'module', name: 'agent-agent', entry: { path: './agent.ts' } })
    })
  })
}
