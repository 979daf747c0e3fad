/** What the fake gateway reports about its agent. */
import type { GatewayResult } from './gateway-request.ts'
import type { GatewayFaults } from './faults.ts'

const skills = [
  {
    name: 'weather',
    description: 'Tells the weather',
    eligible: true,
    disabled: false,
    bundled: true,
    filePath: '/home/claw/secret',
  },
  { name: 'tmux', description: 'Works in a terminal', eligible: false, disabled: false, bundled: true },
  { name: 'notion', description: 'Writes notes', eligible: true, disabled: true, bundled: false },
  { name: 'diagrams', description: 'Draws diagrams', eligible: true, disabled: false, bundled: false },
]

const groups = [
  {
    id: 'fs',
    label: 'Files',
    source: 'core',
    tools: [{ id: 'read', label: 'Read', description: 'Reads a file', source: 'core' }],
  },
  {
    id: 'runtime',
    label: 'Runtime',
    source: 'core',
    tools: [{ id: 'exec', label: 'Exec', description: 'Runs a command', source: 'core' }],
  },
]

const config = { skills: { entries: { weather: {}, notion: { enabled: false } }, allowBundled: ['tmux', 'weather'] } }

export function readAgentInfo(method: string, trouble: GatewayFaults): GatewayResult {
  if (method === 'health') return { payload: { ok: true } }
  if (method === 'agent.identity.get')
    return { payload: { agentId: 'main', name: 'Clawd', nameSource: 'config', avatar: 'C' } }
  if (method === 'skills.status' && !trouble.noSkillsStatus) return { payload: { agentId: 'main', skills } }
  if (method === 'tools.catalog') return { payload: { agentId: 'main', profiles: [], groups } }
  if (method === 'config.get') return { payload: { path: '/home/claw/secret', config, hash: 'x', valid: true } }
  return { code: 'FORBIDDEN', message: 'missing scope: operator.admin' }
}
