/** The filter by agent. An agent that was removed from the configuration can still be a filter. */
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { SelectField } from './select-field.tsx'

export interface AgentSelectProps {
  readonly value: string
  /** Text of the choice that selects every agent. */
  readonly anyText: string
  readonly onChange: (agent: string) => void
}

export function AgentSelect({ value, anyText, onChange }: AgentSelectProps) {
  const agents = useResource(
    'agents',
    async (signal) => (await callAdmin('listAgents', { signal })).agents.map(({ name }) => name),
    ({ type }) => type === 'agent' || type === 'config',
  )
  const names = [...new Set([...(agents.value.value ?? []), ...(value === '' ? [] : [value])])].sort()
  const options = [['', anyText] as const, ...names.map((name) => [name, name] as const)]
  return <SelectField label="Agent" value={value} options={options} onChange={onChange} />
}
