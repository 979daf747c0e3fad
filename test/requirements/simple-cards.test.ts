/** The simple module: the cards that it builds, as its document requires. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { connect } from '@parley/a2a/client'
import { buildAgentCard, buildAgentCardForAgent } from '@parley/a2a/simple'

const tools = [
  { name: 'corvid_send_message', description: 'Sends a message to another agent' },
  { name: 'searchMemories' },
  { name: 'run_deploy', title: 'Deploy', isDefault: false },
]
const personas: Readonly<Record<string, object>> = {
  a1: { archetype: 'A librarian', traits: ['patient', 'exact'] },
}
const poem = { id: 'poem', name: 'Write a poem', description: 'Writes one', tags: ['writing'] }
const db = {
  listTools: () => tools,
  getPersona: (agentId: string) => personas[agentId],
  getAgentBundles: (agentId: string) => (agentId === 'a1' ? [{ skills: [poem] }] : []),
}
const idsOf = ({ skills }: { readonly skills: readonly { readonly id: string }[] }) => skills.map(({ id }) => id)

describe('buildAgentCard', () => {
  it('lists every registered tool as a skill, with a readable name and tags [S0-26]', () => {
    const { skills } = buildAgentCard('https://agent.example.com', db)
    assert.deepEqual(
      skills.map(({ id, name, tags }) => [id, name, tags]),
      [
        ['corvid_send_message', 'Corvid send message', ['tool', 'mcp', 'messages']],
        ['searchMemories', 'Search memories', ['tool', 'mcp', 'search']],
        ['run_deploy', 'Deploy', ['tool', 'mcp', 'run']],
      ],
    )
  })

  it('has the name, the description and the version that it gets', () => {
    const about = { name: 'Ada', description: 'Finds books', version: '2.0.0' }
    const { name, description, version, skills } = buildAgentCard('https://agent.example.com', undefined, about)
    assert.deepEqual({ name, description, version }, about)
    assert.deepEqual(
      skills.map((skill) => [skill.name, skill.description]),
      [['Ada', 'Finds books']],
    )
    assert.equal(buildAgentCard('https://agent.example.com', db, { name: 'Ada' }).description, 'Ada, an A2A agent')
    assert.equal(buildAgentCard('https://agent.example.com', db, { version: '3.1.4' }).version, '3.1.4')
  })

  it('is a card that a client can use', async () => {
    const card = buildAgentCard('https://agent.example.com/')
    assert.equal(card.url, 'https://agent.example.com')
    const agent = await connect(JSON.parse(JSON.stringify(card)))
    assert.equal(agent.interface.url, 'https://agent.example.com')
    assert.ok(agent.card.skills.length > 0)
  })

  it('has the address of BIND_HOST and PORT, by default 127.0.0.1:3000 [S0-35]', async () => {
    const program = `import { buildAgentCard } from '@parley/a2a/simple'
console.log(buildAgentCard().url)
delete process.env.PORT
process.env.BIND_HOST = '::1'
console.log(buildAgentCard().url)
delete process.env.BIND_HOST
console.log(buildAgentCard().url)`
    const args = ['--conditions=parley-source', '--input-type=module', '-e', program]
    const { PATH = '' } = process.env
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: import.meta.dirname,
      env: { PATH, PORT: '8080', BIND_HOST: 'agent.internal' },
    })
    assert.deepEqual(stdout.trim().split('\n'), [
      'http://agent.internal:8080',
      'http://[::1]:3000',
      'http://127.0.0.1:3000',
    ])
  })
})

describe('buildAgentCardForAgent', () => {
  it('enriches the card by the persona and the bundles of skills [S0-14]', () => {
    const agent = { id: 'a1', name: 'Ada', description: 'Finds books', version: '2.0.0' }
    const card = buildAgentCardForAgent(agent, 'https://agent.example.com', db)
    assert.deepEqual([card.name, card.version], ['Ada', '2.0.0'])
    assert.equal(card.description, 'Finds books\n\nA librarian. patient, exact')
    assert.deepEqual(card.skills.at(-1), poem)
  })

  it('lists the tools of mcpToolPermissions only, or else the default set [S0-28]', () => {
    const withTools = (mcpToolPermissions?: readonly string[]) =>
      buildAgentCardForAgent(
        { id: 'a2', name: 'Grace', ...(mcpToolPermissions === undefined ? {} : { mcpToolPermissions }) },
        'https://agent.example.com',
        db,
      )
    assert.deepEqual(idsOf(withTools(['run_deploy', 'no_such_tool'])), ['run_deploy'])
    assert.deepEqual(idsOf(withTools()), ['corvid_send_message', 'searchMemories'])
    assert.deepEqual(idsOf(withTools([])), ['default'])
  })

  it('needs no database', () => {
    const card = buildAgentCardForAgent({ id: 'a3', name: 'Edsger' }, 'https://agent.example.com')
    assert.equal(card.description, 'Edsger, an A2A agent')
    assert.deepEqual(idsOf(card), ['default'])
  })
})
