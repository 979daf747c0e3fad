/** An agent whose tasks fail although it is up: operators see it everywhere, and callers notice nothing of it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runCli } from '../../packages/hub/src/cli/run.ts'
import { createTestTerminal } from '../../packages/hub/src/cli/testing/test-terminal.ts'
import { adminKey, openTestHub } from './test-hub.ts'

const testHub = await openTestHub()
const agent = async () => (await testHub.ask('GET', '/admin/agents/talker')).json
const health = async () => (await testHub.ask('GET', '/admin/health')).json

async function parley(...words: readonly string[]) {
  const environment = { PARLEY_URL: testHub.url, PARLEY_ADMIN_KEY: adminKey }
  const terminal = createTestTerminal({ environment, cwd: testHub.folder })
  const code = await runCli([...words], terminal)
  return { code, text: [...terminal.printed, ...terminal.errors].join('\n') }
}

describe('an agent whose tasks fail', () => {
  const reason = '3 of 5 tasks failed in the last 15 minutes (60 %); the newest: a secret of ours'

  it('is failing from its fifth task, and after a restart', async () => {
    for (const text of ['fail', 'hi', 'fail', 'hi']) await testHub.send('talker', text)
    assert.deepEqual((await agent()).status, { state: 'up' })
    await testHub.send('talker', 'fail')
    assert.deepEqual((await agent()).status, { state: 'failing', reason })
    await testHub.restart()
    assert.deepEqual((await agent()).status, { state: 'failing', reason })
    assert.deepEqual((await agent()).endedTasks, { ended: 5, failed: 3 })
  })

  it('is in the health of the hub, which is not degraded, and in a metric', async () => {
    const { status, agents } = await health()
    assert.deepEqual([status, agents.down, agents.failing, agents.recentErrors], ['ok', [], { talker: reason }, {}])
    assert.equal(agents.up, agents.all - 1)
    const metrics = await (await fetch(`${testHub.url}/metrics`)).text()
    assert.match(metrics, /^parley_agent_failing\{agent="talker",kind="module"\} 1$/m)
  })

  it('is in `parley status`, `agent list` and `doctor`', async () => {
    const status = await parley('status')
    assert.deepEqual([status.code, status.text.includes(`failing: talker (${reason})`)], [0, true], status.text)
    const list = await parley('agent', 'list')
    assert.match(list.text, /talker +module +failing /)
    assert.ok(list.text.includes(`talker: ${reason}`), list.text)
    const { text } = await parley('doctor')
    assert.ok(text.includes(reason), text)
  })

  it('still gets work, and answers', async () => {
    assert.equal((await testHub.send('talker', 'hi')).status.state, 'TASK_STATE_COMPLETED')
  })
})
