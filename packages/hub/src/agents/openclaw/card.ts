/**
 * What the gateway tells of its agent, for the card: its name, its skills, its tools. Read from the gateway alone; no model
 * is asked anything.
 */
import type { AgentSkill } from '@parley/a2a'
import type { CardPart } from '../kind.ts'
import type { OpenclawEntry } from './entry.ts'
import type { Line } from './line.ts'
import { fieldsOf, listIn, textIn, textsIn } from './wire.ts'
import type { Answer, Fields } from './wire.ts'

/** Text, images, and files of what people send; not JSON, which would promise that data parts are taken (S4-10). */
const inputModes = [
  'text/*',
  'image/*',
  'audio/*',
  'video/*',
  'application/pdf',
  'application/zip',
  'application/octet-stream',
  'application/msword',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.*',
]

export function knownCard({ agent, transport }: OpenclawEntry): CardPart {
  return {
    description: `The agent ${agent} of an OpenClaw gateway`,
    // The HTTP endpoint takes no files.
    inputModes: transport === 'http' ? ['text/plain', 'image/*'] : inputModes,
    outputModes: ['text/plain'],
    streaming: true,
  }
}

export async function lookAtCard(line: Line, entry: OpenclawEntry): Promise<CardPart> {
  const about = { agentId: entry.agent }
  const [identity, skills, tools] = await Promise.all([
    line.request('agent.identity.get', about),
    entry.liveSkills === 'none' ? [] : liveSkills(line, about),
    entry.liveSkills === 'all' ? liveTools(line, about) : [],
  ])
  const name = nameIn(identity)
  return {
    ...knownCard(entry),
    ...(name !== undefined ? { name } : {}),
    skills: byName([...skills, ...tools]),
  }
}

/** Every agent that nobody has named is called the same. */
function nameIn(identity: Answer): string | undefined {
  if (!identity.ok || identity.payload['nameSource'] === 'default') return undefined
  return textIn(identity.payload, 'name')
}

async function liveSkills(line: Line, about: Fields): Promise<readonly AgentSkill[]> {
  const status = await line.request('skills.status', about)
  if (!status.ok) return configuredSkills(line)
  return listIn(status.payload, 'skills')
    .filter((skill) => skill['eligible'] === true && skill['disabled'] !== true)
    .flatMap((skill) => skillOf(textIn(skill, 'name'), textIn(skill, 'description'), 'openclaw'))
}

/** What older gateways tell: which skills are configured, though not whether they can be used (S4-14). */
async function configuredSkills(line: Line): Promise<readonly AgentSkill[]> {
  const answer = await line.request('config.get', {})
  const skills = fieldsOf(fieldsOf(answer.payload['config'] ?? answer.payload['parsed'])['skills'])
  const entries = Object.entries(fieldsOf(skills['entries'])).filter(([, one]) => fieldsOf(one)['enabled'] !== false)
  return [...entries.map(([name]) => name), ...textsIn(skills, 'allowBundled')].flatMap((name) =>
    skillOf(name, undefined, 'openclaw'),
  )
}

async function liveTools(line: Line, about: Fields): Promise<readonly AgentSkill[]> {
  const catalog = await line.request('tools.catalog', about)
  return listIn(catalog.payload, 'groups')
    .flatMap((group) => listIn(group, 'tools'))
    .flatMap((tool) => skillOf(textIn(tool, 'id'), textIn(tool, 'description'), 'tool', textIn(tool, 'label')))
}

function skillOf(id: string | undefined, description: string | undefined, tag: string, label?: string): AgentSkill[] {
  if (id === undefined) return []
  const name = label ?? id
  return [{ id, name, description: description ?? name, tags: [tag] }]
}

/** The first of each name. */
function byName(skills: readonly AgentSkill[]): readonly AgentSkill[] {
  return skills.filter(({ name }, index) => skills.findIndex((other) => other.name === name) === index)
}
