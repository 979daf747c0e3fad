/** What the hub and the card know of an agent: its health, load, kind, provider, credentials and capabilities. */
import { ExternalLink } from '../../../components/content/external-link.tsx'
import { Fact, FactList } from '../../../components/layout/page-head.tsx'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { formatDuration } from '../../../components/format.ts'
import type { AgentTabProps } from '../agent-tab-props.ts'
import { AgentError } from '../agent-error.tsx'
import { agentStatus, loadText } from '../../../agent/agent-status.ts'
import type { ParsedCard } from '../../../agent/parse-card.ts'

export function AgentFacts({ agent, card }: { readonly agent: AgentTabProps['agent']; readonly card: ParsedCard }) {
  const { health, load, kind, version, isOpen, isCardPrivate } = agent
  return (
    <section class="stack-small agent-part" aria-label="How it is">
      <FactList>
        <Fact name="Health">
          <span class="agent-health">
            <StatusBadge {...agentStatus(agent)} />
            {health.askedAt !== undefined && (
              <span class="faint">
                asked <RelativeTime at={health.askedAt} />
              </span>
            )}
          </span>
        </Fact>
        <Fact name="Load">{loadText(load)}</Fact>
        {health.firstWordMs !== undefined && <Fact name="To its first word">{formatDuration(health.firstWordMs)}</Fact>}
        <Fact name="Last error">
          <AgentError agent={agent} isLinked />
        </Fact>
        <Fact name="Kind">
          {kind}, version {version}
        </Fact>
        {card.provider !== undefined && (
          <Fact name="Provider">
            {card.provider.url === undefined ? (
              card.provider.name
            ) : (
              <ExternalLink to={card.provider.url}>{card.provider.name}</ExternalLink>
            )}
          </Fact>
        )}
        {card.documentationUrl !== undefined && (
          <Fact name="Documentation">
            <ExternalLink to={card.documentationUrl} />
          </Fact>
        )}
        <Fact name="Callers show">
          {isOpen ? 'nothing, or ' : ''}
          {card.security.filter((way) => way !== 'nothing').join(', or ') || 'a key'}
          {isCardPrivate && '. Its card is shown only to permitted callers'}
        </Fact>
        <Fact name="Can">
          {[
            card.streaming && 'stream',
            card.push && 'call webhooks',
            card.extendedCard && 'show more to permitted callers',
          ]
            .filter(Boolean)
            .join(', ') || 'answer when it is done'}
        </Fact>
        <Fact name="Takes">{card.inputModes.join(', ') || 'anything'}</Fact>
        <Fact name="Gives">{card.outputModes.join(', ') || 'anything'}</Fact>
      </FactList>
    </section>
  )
}
