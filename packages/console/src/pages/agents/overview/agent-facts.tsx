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

export function AgentFacts({ agent, card }: { readonly agent: AgentTabProps['agent']; readonly card: ParsedCard }) {
  const { health, load, kind, version, isOpen, isCardPrivate } = agent
  const schemes = card.security.filter((way) => way !== 'None')
  const capabilities = [
    ...(card.streaming ? ['Streaming'] : []),
    ...(card.push ? ['Webhooks'] : []),
    ...(card.extendedCard ? ['Extended card'] : []),
  ]
  return (
    <section class="stack-small agent-part" aria-label="Facts">
      <FactList>
        <Fact name="Health">
          <span class="stack-tight agent-health">
            <StatusBadge {...agentStatus(agent)} />
            {health.askedAt !== undefined && (
              <span class="faint">
                checked <RelativeTime at={health.askedAt} />
              </span>
            )}
          </span>
        </Fact>
        <Fact name="Load">{loadText(load)}</Fact>
        {health.firstWordMs !== undefined && (
          <Fact name="Time to first token">{formatDuration(health.firstWordMs)}</Fact>
        )}
        <Fact name="Last error">
          <AgentError agent={agent} isLinked />
        </Fact>
        <Fact name="Kind">
          {kindText(kind).name}, version {version}
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
        <Fact name="Authentication">
          {[...(isOpen ? ['Optional'] : []), schemes.join(', or ') || 'API key'].join(': ')}
          {isCardPrivate && <span class="hint agent-fact-note">Its card is visible to authorized callers only.</span>}
        </Fact>
        <Fact name="Capabilities">{capabilities.join(', ') || 'None'}</Fact>
        <Fact name="Input types">{card.inputModes.join(', ') || 'Any'}</Fact>
        <Fact name="Output types">{card.outputModes.join(', ') || 'Any'}</Fact>
      </FactList>
    </section>
  )
}
