/** Shown before the first message: the agent, its skills with example prompts, and what it accepts and returns. */
import { useSignal } from '@preact/signals'
import { parseCard, type ParsedCard, type ParsedSkill } from '../../agent/parse-card.ts'
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { ErrorNotice } from '../../components/status/error-notice.tsx'
import { conversationHref } from './playground-params.ts'
import './greeting.css'

/** More are shown on demand. */
const maxSkills = 4
const maxExamples = 4

export function AgentGreeting({ agent }: { readonly agent: string }) {
  const loaded = useResource(agent, (signal) => callAdmin('getAgentCards', { params: { agent }, signal }))
  const card = parseCard(loaded.value.value?.cards['merged'])
  const { name, description } = card
  // The hub adds a skill like this to the card of an agent that names none.
  const skills = card.skills.filter((skill) => skill.examples.length > 0 || skill.description !== description)
  return (
    <div class="stack-wider greeting">
      <header class="stack-small">
        <h2 dir="auto">{name ?? agent}</h2>
        {description !== undefined && (
          <p class="soft greeting-about" dir="auto">
            {description}
          </p>
        )}
      </header>
      {loaded.problem.value !== undefined && <ErrorNotice reason={loaded.problem.value} retry={loaded.reload} />}
      {skills.length > 0 && <Skills agent={agent} skills={skills} />}
      {loaded.value.value !== undefined && <Capabilities card={card} />}
    </div>
  )
}

function Skills({ agent, skills }: { readonly agent: string; readonly skills: readonly ParsedSkill[] }) {
  const isAll = useSignal(skills.length <= maxSkills + 1)
  // Skills with examples first: they show how to begin.
  const sorted = skills.toSorted((one, other) => Number(other.examples.length > 0) - Number(one.examples.length > 0))
  return (
    <section class="stack-small" aria-label="Skills">
      <h3>Skills</h3>
      <ul class="greeting-skills">
        {sorted.slice(0, isAll.value ? sorted.length : maxSkills).map((skill, index) => (
          <SkillCard key={index} agent={agent} skill={skill} />
        ))}
      </ul>
      {!isAll.value && (
        <div>
          <button type="button" class="small" onClick={() => (isAll.value = true)}>
            Show all {skills.length} skills
          </button>
        </div>
      )}
    </section>
  )
}

function SkillCard({ agent, skill }: { readonly agent: string; readonly skill: ParsedSkill }) {
  const { name, description, examples } = skill
  return (
    <li class="stack-small panel greeting-skill">
      <strong dir="auto">{name}</strong>
      {description !== '' && description !== name && (
        <p class="soft clamp" dir="auto">
          {description}
        </p>
      )}
      {[...new Set(examples)].slice(0, maxExamples).map((text) => (
        <a
          key={text}
          class="button greeting-example"
          href={conversationHref(agent, { text })}
          aria-label={`Use example: ${text}`}
        >
          <span class="clamp" dir="auto">
            {text}
          </span>
        </a>
      ))}
    </li>
  )
}

function Capabilities({ card: { inputModes, outputModes, streaming } }: { readonly card: ParsedCard }) {
  const facts: readonly (readonly [name: string, value: string])[] = [
    ...(inputModes.length > 0 ? [['Input types', inputModes.join(', ')] as const] : []),
    ...(outputModes.length > 0 ? [['Output types', outputModes.join(', ')] as const] : []),
    ['Streaming', streaming ? 'Yes' : 'No'],
  ]
  return (
    <section aria-label="Capabilities">
      <dl class="greeting-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt class="faint">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
