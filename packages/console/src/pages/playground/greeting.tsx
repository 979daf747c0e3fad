/** Shown before the first message: the agent and its example prompts. */
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { EmptyState } from '../../components/status/error-notice.tsx'
import { conversationHref } from './playground-params.ts'

const mostExamples = 4

export function AgentGreeting({ agent }: { readonly agent: string }) {
  const card = useResource(agent, (signal) => callAdmin('getAgentCards', { params: { agent }, signal }))
  const { name, description, examples } = greetingFromCard(card.value.value?.cards['1.0'])
  return (
    <EmptyState title={name ?? agent}>
      {description !== undefined && <p dir="auto">{description}</p>}
      {examples.length > 0 && (
        <ul class="greeting" aria-label="Examples">
          {examples.map((text) => (
            <li key={text}>
              <a class="button" href={conversationHref(agent, { text })}>
                <span class="cut" dir="auto">
                  {text}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {card.problem.value !== undefined && <p class="mistake">{card.problem.value.message}</p>}
    </EmptyState>
  )
}

/** A card is untrusted: only strings are taken from it. */
function greetingFromCard(card: Readonly<Record<string, unknown>> = {}) {
  const skills = Array.isArray(card['skills']) ? (card['skills'] as readonly unknown[]) : []
  const examples = skills.flatMap((skill) => {
    const listed = (skill as { readonly examples?: unknown } | null)?.examples
    return Array.isArray(listed) ? listed.filter((one): one is string => typeof one === 'string') : []
  })
  return {
    name: wordOf(card['name']),
    description: wordOf(card['description']),
    examples: [...new Set(examples)].slice(0, mostExamples),
  }
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
