/** What the card of an agent of an OpenClaw gateway says, and who is asked for it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PartialCard } from '../../packages/hub/src/agents/kind.ts'
import { openOpenclawTestAgent } from './openclaw-test-agent.ts'
import type { OpenclawTestAgentOptions } from './openclaw-test-agent.ts'
import type { TestContext } from 'node:test'

async function look(
  t: TestContext,
  options: OpenclawTestAgentOptions = {},
): Promise<PartialCard & { readonly asked: readonly string[] }> {
  const { bench, gateway } = await openOpenclawTestAgent(t, options)
  const card = await bench.open.fetchCard?.(AbortSignal.timeout(120_000))
  return { ...card, asked: gateway.receivedRequests.map(({ method }) => method) }
}

describe('the card of an agent of an OpenClaw gateway', () => {
  it('has its name and its usable skills, without calling a model [S4-14]', async (t) => {
    const { name, skills, asked } = await look(t)
    assert.equal(name, 'Clawd')
    assert.deepEqual(skills, [
      { id: 'weather', name: 'weather', description: 'Tells the weather', tags: ['openclaw'] },
      { id: 'diagrams', name: 'diagrams', description: 'Draws diagrams', tags: ['openclaw'] },
    ])
    assert.ok(!asked.includes('agent') && !asked.includes('chat.send'), asked.join(' '))
  })

  it('has the configured skills, each once, if the gateway lists none [S4-14]', async (t) => {
    const { skills } = await look(t, { trouble: { noSkillsStatus: true } })
    assert.deepEqual(
      skills?.map(({ id }) => id),
      ['weather', 'tmux'],
    )
  })

  it('has its tools if the entry configures it, or no skills', async (t) => {
    const all = await look(t, { entry: { liveSkills: 'all' } })
    assert.deepEqual(
      all.skills?.map(({ name, tags }) => [name, tags[0]]),
      [
        ['weather', 'openclaw'],
        ['diagrams', 'openclaw'],
        ['Read', 'tool'],
        ['Exec', 'tool'],
      ],
    )
    const none = await look(t, { entry: { liveSkills: 'none' } })
    assert.deepEqual(none.skills, [])
  })

  it('declares the accepted input modes, without JSON [S4-10]', async (t) => {
    const { bench } = await openOpenclawTestAgent(t)
    const modes = bench.open.card?.inputModes ?? []
    assert.ok(modes.includes('text/*') && modes.includes('image/*') && modes.includes('application/pdf'))
    assert.ok(!modes.some((mode) => /json|^\*|^application\/\*/.test(mode)), modes.join(' '))
    const http = await openOpenclawTestAgent(t, { entry: { transport: 'http' } })
    assert.deepEqual(http.bench.open.card?.inputModes, ['text/plain', 'image/*'])
    assert.equal(await http.bench.open.fetchCard?.(AbortSignal.timeout(120_000)), undefined)
  })
})
