/** The card merges what the agent reports with what its entry sets; the entry wins. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentSkill } from '@parley/a2a'
import { mergeSkills, buildAgentSettings, type AgentSettingsInput } from './agent-settings.ts'
import { checkConfig } from '../config/check-config.ts'
import type { AgentConfig } from '../config/hub-config.ts'
import { demoKind } from '../demo/index.ts'

const agent = (): string => 'hi'
const skill = (name: string, description = name): AgentSkill => ({ id: name, name, description, tags: ['t'] })

function entry(fields: object): AgentConfig {
  const agents = { it: { kind: 'demo', agent: 'echo', ...fields } }
  const checked = checkConfig({ agents, skillBundles: { office: [], home: [] } }, { kinds: [demoKind], baseDir: '/' })
  assert.ok('config' in checked, JSON.stringify(checked))
  return checked.config.agents['it'] as AgentConfig
}

const settings = (fields: object, parts: Partial<AgentSettingsInput> = {}): ReturnType<typeof buildAgentSettings> =>
  buildAgentSettings({
    name: 'it',
    config: entry(fields),
    cards: {},
    listsGrpc: true,
    bundles: {},
    agent,
    isAvailable: true,
    turnTimeoutMs: undefined,
    security: {},
    extensions: [],
    ...parts,
  })

describe('the server settings of an agent', () => {
  it('is what the agent knows of itself where the entry says nothing', () => {
    const card = { name: 'Known', description: 'Knows', version: '2.0.0', inputModes: ['text/plain'], streaming: false }
    const made = settings({}, { open: { card } })
    const { name, description, version, inputModes, streaming } = made
    assert.deepEqual({ name, description, version, inputModes, streaming }, card)
    assert.equal(made.agent, agent)
    assert.equal(settings({}).name, 'it')
  })

  it('leaves gRPC off the card if nobody set its address', () => {
    const omitted = (fields: object, listsGrpc = false) => settings(fields, { listsGrpc }).omitInterfaces
    assert.deepEqual(omitted({}), ['GRPC'])
    assert.deepEqual(omitted({ card: { omitInterfaces: ['JSONRPC'] } }), ['JSONRPC', 'GRPC'])
    assert.deepEqual([omitted({ grpcPort: 0 }), omitted({ grpcUrl: 'a.example.com:443' })], [undefined, undefined])
    assert.equal(omitted({}, true), undefined)
  })

  it('is what the entry says wherever it says something [S0-14 S4-13]', () => {
    const provider = { organization: 'Us', url: 'https://us.example.com' }
    const said = { name: 'Bot', description: 'Ours', version: '3.1.0', provider, inputModes: ['image/png'] }
    const card = { name: 'Known', description: 'Knows', version: '2.0.0', iconUrl: 'https://x.example.com/i.png' }
    const made = settings(said, { open: { card }, liveCard: { description: 'Looked' } })
    const { name, description, version, inputModes, iconUrl } = made
    assert.deepEqual(
      [name, description, version, made.provider, inputModes, iconUrl],
      ['Bot', 'Ours', '3.1.0', provider, ['image/png'], 'https://x.example.com/i.png'],
    )
  })

  it('enforces the media types of a remote card only where the entry has its own', () => {
    const card = { inputModes: ['text'], outputModes: ['text'] }
    const remote = (fields: object) => {
      const made = settings(fields, { liveCard: card, hasRemoteCard: true })
      return [made.inputModes, made.inputModesRequired ?? true, made.outputModesRequired ?? false]
    }
    assert.deepEqual(remote({}), [['text'], false, false])
    assert.deepEqual(remote({ inputModes: ['image/*'] }), [['image/*'], true, false])
    assert.deepEqual(remote({ outputModesRequired: true }), [['text'], false, true])
    assert.notEqual(settings({}, { liveCard: card }).inputModesRequired, false)
  })

  it('has what was looked at over what was known before', () => {
    const { description, version } = settings(
      {},
      {
        open: { card: { description: 'Before', version: '1.0.0' } },
        liveCard: { description: 'Now' },
      },
    )
    assert.deepEqual([description, version], ['Now', '1.0.0'])
  })

  it('describes the persona of the agent after what it does [S0-14]', () => {
    assert.equal(settings({ description: 'Sums up.', persona: 'Terse.' }).description, 'Sums up.\n\nTerse.')
    assert.equal(settings({ persona: 'Terse.' }).description, 'Terse.')
  })

  it('has live skills, those of the bundles and those of the entry, each once [S0-14 S4-13 S4-14]', () => {
    const made = settings(
      { skillBundles: ['office', 'home'], skills: [{ name: 'search', description: 'better' }, { name: 'cook' }] },
      {
        open: { card: { skills: [skill('old')] } },
        liveCard: { skills: [skill('Search', 'live'), skill('mail')] },
        bundles: { office: [skill('MAIL', 'from the bundle'), skill('calendar')], home: [skill('calendar', 'later')] },
      },
    )
    assert.deepEqual(
      made.skills?.map(({ name, description }) => [name, description]),
      [
        ['search', 'better'],
        ['MAIL', 'from the bundle'],
        ['calendar', 'later'],
        ['cook', 'cook'],
      ],
    )
  })

  it('says on the card that it cannot be reached, and nothing of why', () => {
    assert.match(
      settings({ description: 'Sums up.' }, { isAvailable: false }).description ?? '',
      /^Sums up\..*not available/s,
    )
  })

  it('has the times of the entry, or those of its kind', () => {
    assert.equal(settings({}).turnTimeoutMs, undefined)
    assert.equal(settings({}, { turnTimeoutMs: 600_000 }).turnTimeoutMs, 600_000)
    assert.deepEqual(settings({}).inputTimeout, { afterMs: 604_800_000, then: 'fail' })
    assert.equal(settings({ inputTimeout: 'none' }).inputTimeout, undefined)
  })

  it('protects the card of an agent that is private', () => {
    assert.equal(settings({}).protectCard, false)
    assert.equal(settings({ card: 'private' }).protectCard, true)
  })
})

describe('skills that are added up', () => {
  it('keep ids apart', () => {
    const one = { ...skill('One'), id: 'x' }
    const two = { ...skill('Two'), id: 'x' }
    assert.deepEqual(
      mergeSkills([one], [two]).map(({ id }) => id),
      ['x', 'x-2'],
    )
  })
})
