/** How programs call the agent: every endpoint, and code to paste. */
import { query, setQuery } from '../../../app/router.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { CheckField, SelectField } from '../../../components/form/form-fields.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import type { AgentTabProps } from '../agent-tab-props.ts'
import { agentPath } from '../../../agent/agent-path.ts'
import { parseCard } from '../../../agent/parse-card.ts'
import { endpointsOf, hubUrlOf } from './endpoints.ts'
import { agentSnippets } from './snippets.ts'
import './connect-tab.css'

export function ConnectTab({ agent, cards }: AgentTabProps) {
  return (
    <div class="stack-wider agent-tab">
      <Snippets agent={agent} cards={cards} />
      <section class="stack-small agent-part">
        <h3>Addresses</h3>
        <div class="connect-scroll panel">
          <table class="data connect-table">
            <thead>
              <tr>
                <th scope="col">Binding</th>
                <th scope="col">Version</th>
                <th scope="col">Address</th>
              </tr>
            </thead>
            <tbody>
              {endpointsOf(agent, cards).map(({ binding, version, url, note }) => (
                <tr key={`${binding} ${version}`}>
                  <td>{binding}</td>
                  <td>{version}</td>
                  <td>
                    <span class="connect-address">
                      <code>{url}</code>
                      <CopyButton text={url} label={`Copy the address for ${binding} ${version}`} />
                    </span>
                    {note !== undefined && <span class="hint">{note}</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </div>
  )
}

function Snippets({ agent, cards }: AgentTabProps) {
  const asked = query.value.get('key')
  const withKey = asked === null ? !agent.isOpen : asked === 'yes'
  const { skills } = parseCard(cards?.cards['merged'])
  const text = skills.flatMap(({ examples }) => examples)[0]?.slice(0, 200) ?? 'Hello'
  const all = agentSnippets({
    url: agent.url,
    card: agent.card,
    hub: hubUrlOf(agent.url),
    agent: agent.name,
    text: text.toWellFormed(),
    withKey,
  })
  const shown = all.find(({ id }) => id === query.value.get('snippet')) ?? all[0]
  if (shown === undefined) return null
  return (
    <section class="stack-small agent-part">
      <h3>Call it from a program</h3>
      <div class="connect-tools">
        <SelectField
          class="connect-select"
          label="Snippet"
          value={shown.id}
          options={all.map(({ id, label }) => [id, label])}
          onChange={(snippet) => setQuery({ snippet })}
        />
        <span class="connect-choice">
          <SegmentedControl
            label="Snippet"
            value={shown.id}
            options={all.map(({ id, label }) => [id, label] as const)}
            onChange={(snippet) => setQuery({ snippet })}
          />
        </span>
        <CheckField class="soft" checked={withKey} onChange={(isOn) => setQuery({ key: isOn ? 'yes' : 'no' })}>
          With a key
        </CheckField>
      </div>
      <CodeBlock text={shown.code} label={`${shown.label} snippet`} wrap={shown.id.startsWith('curl')} />
      <p class="hint">{shown.note}</p>
      {withKey && (
        <p class="hint">
          The key is read from <code>PARLEY_KEY</code>.{' '}
          <a href={`${agentPath(agent.name, 'keys')}?make=key`}>Create key</a>
        </p>
      )}
    </section>
  )
}
