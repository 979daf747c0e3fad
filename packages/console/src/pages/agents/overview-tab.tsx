/** An agent as a person reads it: what it is, how it is, what it can, and what it did last. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { Copy, Id } from '../../parts/copy.tsx'
import { Outward } from '../../parts/outward.tsx'
import { Fact, Facts } from '../../parts/sheet.tsx'
import { Mark, State } from '../../parts/state.tsx'
import { Ago } from '../../parts/time.tsx'
import { Trouble } from '../../parts/trouble.tsx'
import { duration } from '../../parts/words.ts'
import type { TabProps } from './tab-props.ts'
import { AgentError } from './agent-error.tsx'
import { agentLook, breakerText, loadText } from './agent-look.ts'
import { agentPath, playgroundPath } from './agent-path.ts'
import { readCard } from './card-reading.ts'
import type { ReadCard } from './card-reading.ts'
import { Note } from './note.tsx'
import { Skills } from './skills.tsx'
import { concernsAgent } from './use-agents.ts'
import './tags.css'

export function OverviewTab({ agent, cards }: TabProps) {
  const card = readCard(cards?.cards['1.0'])
  const { name, url, isDefault } = agent
  return (
    <div class="agent-tab">
      <Notes agent={agent} cards={cards} />
      {card.description !== undefined && <Description text={card.description} />}
      <section class="agent-part" aria-label="Address">
        <div class="agent-address">
          <code>{url}</code>
          <Copy text={url} label="Copy the endpoint" />
          <a class="button plain small" href={agentPath(name, 'connect')}>
            How to connect
          </a>
        </div>
        {isDefault && (
          <p class="hint">The default agent: it also answers at the root of the hub, where no agent is named.</p>
        )}
      </section>
      <Standing agent={agent} card={card} />
      <section class="agent-part">
        <h3>Skills</h3>
        {card.skills.length === 0 ? (
          <p class="hint">
            It names none. <a href={playgroundPath(name, 'Hello')}>Say hello to it</a>
          </p>
        ) : (
          <Skills skills={card.skills} agent={name} />
        )}
      </section>
      <RecentTasks name={name} />
    </div>
  )
}

/** Some say very much of themselves. */
const longDescription = 800

function Description({ text }: { readonly text: string }) {
  const isWhole = useSignal(text.length <= longDescription)
  return (
    <p class="agent-prose" dir="auto">
      {isWhole.value ? text : `${text.slice(0, longDescription).toWellFormed()}… `}
      {!isWhole.value && (
        <button type="button" class="small" onClick={() => (isWhole.value = true)}>
          Show all
        </button>
      )}
    </p>
  )
}

function Notes({ agent, cards }: TabProps) {
  const { name, drift, health } = agent
  const { word, why } = agentLook(agent)
  const breaker = breakerText(health.breaker)
  const fields = cards?.remote?.changed?.fields ?? []
  return (
    <>
      {word === 'unavailable' && <Note tone="failed">It is not open: {why ?? 'the reason is not known'}</Note>}
      {(word === 'down' || word === 'slow') && why !== undefined && (
        <Note tone={word === 'down' ? 'failed' : 'waiting'}>
          It is {word}: {why}
        </Note>
      )}
      {drift !== undefined && (
        <Note tone={drift === 'blocked' ? 'failed' : 'waiting'}>
          Its card has changed{fields.length > 0 && <> ({fields.join(', ')})</>}
          {drift === 'blocked' && ', and it is not called before that is approved'}.{' '}
          <a href={agentPath(name, 'card')}>Look at the change</a>
        </Note>
      )}
      {breaker !== undefined && <Note>{breaker}</Note>}
    </>
  )
}

function Standing({ agent, card }: { readonly agent: TabProps['agent']; readonly card: ReadCard }) {
  const { health, load, kind, version, isOpen, isCardPrivate } = agent
  const { tone, shape, word } = agentLook(agent)
  return (
    <section class="agent-part" aria-label="How it is">
      <Facts>
        <Fact name="Health">
          <span class="agent-health">
            <Mark tone={tone} shape={shape} word={word} />
            {health.askedAt !== undefined && (
              <span class="faint">
                asked <Ago at={health.askedAt} />
              </span>
            )}
          </span>
        </Fact>
        <Fact name="Load">{loadText(load)}</Fact>
        {health.firstWordMs !== undefined && <Fact name="To its first word">{duration(health.firstWordMs)}</Fact>}
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
              <Outward to={card.provider.url}>{card.provider.name}</Outward>
            )}
          </Fact>
        )}
        {card.documentationUrl !== undefined && (
          <Fact name="Documentation">
            <Outward to={card.documentationUrl} />
          </Fact>
        )}
        <Fact name="Callers show">
          {isOpen ? 'nothing, or ' : ''}
          {card.security.filter((way) => way !== 'nothing').join(', or ') || 'a key'}
          {isCardPrivate && '. Its card is for those who may call it'}
        </Fact>
        <Fact name="Can">
          {[
            card.streaming && 'stream',
            card.push && 'call webhooks',
            card.extendedCard && 'show more to those it knows',
          ]
            .filter(Boolean)
            .join(', ') || 'answer when it is done'}
        </Fact>
        <Fact name="Takes">{card.inputModes.join(', ') || 'anything'}</Fact>
        <Fact name="Gives">{card.outputModes.join(', ') || 'anything'}</Fact>
      </Facts>
    </section>
  )
}

const recent = 5

function RecentTasks({ name }: { readonly name: string }) {
  const found = useResource(
    `tasks of ${name}`,
    (signal) => call('listTasks', { query: { agent: name, limit: recent }, signal }),
    concernsAgent(name),
  )
  const tasks = found.value.value?.tasks
  return (
    <section class="agent-part">
      <div class="agent-part-head">
        <h3>Recent tasks</h3>
        <a href={`/tasks?agent=${encodeURIComponent(name)}`}>All its tasks</a>
      </div>
      {found.problem.value !== undefined && <Trouble reason={found.problem.value} />}
      {tasks?.length === 0 && (
        <p class="hint">
          None yet. <a href={playgroundPath(name)}>Try it in the playground</a>
        </p>
      )}
      {tasks !== undefined && tasks.length > 0 && (
        <ul class="panel agent-tasks">
          {tasks.map(({ id, state, title, statusAt }) => (
            <li key={id}>
              <State state={state} />
              <a class="grow cut" dir="auto" href={`/tasks/${id}`}>
                {title ?? 'A task without words'}
              </a>
              <span class="agent-task-id">
                <Id id={id} what="task id" />
              </span>
              <span class="faint">
                <Ago at={statusAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
