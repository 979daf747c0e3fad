import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentStatus } from '../registry/agent-registry.ts'
import { buildAiCatalog } from './discovery-routes.ts'
import { matchesFilter, toListedAgent } from './listed-agent.ts'

const status: AgentStatus = {
  name: 'analyst',
  kind: 'module',
  state: 'open',
  settings: {
    agent: () => 'x',
    name: 'The Analyst',
    description: 'Reads tables',
    version: '2.1.0',
    skills: [
      { id: 'ask', name: 'Ask', description: 'A question', tags: ['data', 'tables'] },
      { id: 'plot', name: 'Plot', description: 'A picture', tags: ['data', 'images'] },
    ],
  },
}

describe('an agent, listed', () => {
  it('has where it is, what it can do, and every tag once', () => {
    const agent = toListedAgent(status, 'https://hub.example.com')
    assert.deepEqual(
      [agent.title, agent.url, agent.card, agent.tags],
      [
        'The Analyst',
        'https://hub.example.com/a2a/analyst',
        'https://hub.example.com/a2a/analyst/.well-known/agent-card.json',
        ['data', 'tables', 'images'],
      ],
    )
  })

  it('shows the skills that may be used, and nothing of the others', () => {
    const agent = toListedAgent(status, '', ['plot'])
    assert.deepEqual([agent.skills.map(({ id }) => id), agent.tags], [['plot'], ['data', 'images']])
    assert.equal(matchesFilter(agent, { text: 'question' }), false)
  })

  it('is found by every word of a text, by a tag, and by a skill’s id or name', () => {
    const agent = toListedAgent(status, '')
    const finds = (filter: Parameters<typeof matchesFilter>[1]): boolean => matchesFilter(agent, filter)
    assert.deepEqual(
      [{}, { text: 'TABLES question' }, { tag: 'Images' }, { skill: 'plot' }, { skill: 'Ask' }].map(finds),
      [true, true, true, true, true],
    )
    assert.deepEqual(
      [{ text: 'tables nothing' }, { tag: 'image' }, { skill: 'sing' }, { text: 'tables', tag: 'music' }].map(finds),
      [false, false, false, false],
    )
  })

  it('is an entry of a catalog by a name that does not hang on where the hub listens', () => {
    const { entries } = buildAiCatalog(
      [toListedAgent(status, 'https://hub.example.com:8443')],
      'https://hub.example.com:8443',
    )
    assert.equal(entries[0]?.identifier, 'urn:air:hub.example.com:a2a:analyst')
  })
})
