/** What the hub and the card know of an agent: its health, load, kind, provider, credentials and capabilities. */
import { ExternalLink } from '../../../components/content/external-link.tsx'
import { Fact, FactList } from '../../../components/layout/page-head.tsx'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { formatDuration } from '../../../components/format.ts'
import type { AgentTabProps } from '../agent-tab-props.ts'
import { AgentError } from '../agent-error.tsx'
import { agentStatus, loadText } from '../../../agent/agent-status.ts'
import { kindText } from '../../../agent/kind-text.ts'
import type { ParsedCard } from '../../../agent/parse-card.ts'
import { agentsStrings } from '../strings.ts'

const words = agentsStrings.facts

export function AgentFacts({ agent, card }: { readonly agent: AgentTabProps['agent']; readonly card: ParsedCard }) {
  const { health, load, kind, version, isOpen, isCardPrivate } = agent
  const schemes = card.security.filter((way) => way !== 'None')
  const capabilities = [
    ...(card.streaming ? [words.streaming] : []),
    ...(card.push ? [words.webhooks] : []),
    ...(card.extendedCard ? [words.extendedCard] : []),
  ]
  return (
    <section class="stack-small agent-part" aria-label={words.label}>
      <FactList>
        <Fact name={words.health}>
          <span class="agent-health">
            <StatusBadge {...agentStatus(agent)} />
            {health.askedAt !== undefined && (
              <span class="faint">
                {words.checked} <RelativeTime at={health.askedAt} />
              </span>
            )}
          </span>
        </Fact>
        <Fact name={words.load}>{loadText(load)}</Fact>
        {health.firstWordMs !== undefined && <Fact name={words.firstToken}>{formatDuration(health.firstWordMs)}</Fact>}
        <Fact name={words.lastError}>
          <AgentError agent={agent} isLinked />
        </Fact>
        <Fact name={words.kind}>{words.kindAndVersion(kindText(kind).name, version)}</Fact>
        {card.provider !== undefined && (
          <Fact name={words.provider}>
            {card.provider.url === undefined ? (
              card.provider.name
            ) : (
              <ExternalLink to={card.provider.url}>{card.provider.name}</ExternalLink>
            )}
          </Fact>
        )}
        {card.documentationUrl !== undefined && (
          <Fact name={words.documentation}>
            <ExternalLink to={card.documentationUrl} />
          </Fact>
        )}
        <Fact name={words.authentication}>
          {[...(isOpen ? [words.anonymous] : []), schemes.join(words.or) || words.apiKey].join(': ')}
          {isCardPrivate && <span class="hint agent-fact-note">{words.privateCard}</span>}
        </Fact>
        <Fact name={words.capabilities}>{capabilities.join(', ') || words.noCapabilities}</Fact>
        <Fact name={words.inputTypes}>{card.inputModes.join(', ') || words.anyType}</Fact>
        <Fact name={words.outputTypes}>{card.outputModes.join(', ') || words.anyType}</Fact>
      </FactList>
    </section>
  )
}
