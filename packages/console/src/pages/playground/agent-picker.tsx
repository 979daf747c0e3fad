/** Selects the agent to talk to: a field with completion by name. */
import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Agent } from '../../api/admin.ts'
import { navigate } from '../../app/router.ts'
import { Icon } from '../../components/icon.tsx'
import { conversationHref } from './playground-params.ts'

export function AgentPicker({ agent, all }: { readonly agent: string; readonly all: readonly Agent[] }) {
  const id = useId()
  const text = useSignal<string | undefined>(undefined)
  const chosen = useSignal(0)
  const isOpen = text.value !== undefined
  const words = (text.value ?? '').toLowerCase()
  const found = all.filter(({ name, title }) => `${name} ${title}`.toLowerCase().includes(words))
  const at = Math.min(chosen.value, Math.max(0, found.length - 1))

  function choose(name: string | undefined): void {
    text.value = undefined
    if (name !== undefined && name !== agent) navigate(conversationHref(name))
  }

  function press(event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }): void {
    if (event.key === 'ArrowDown') chosen.value = Math.min(at + 1, found.length - 1)
    else if (event.key === 'ArrowUp') chosen.value = Math.max(at - 1, 0)
    else if (event.key === 'Enter') choose(found[at]?.name)
    else if (event.key === 'Escape') event.currentTarget.blur()
    else return
    event.preventDefault()
  }

  return (
    <div class="picker">
      <label class="unseen" for={id}>
        Agent
      </label>
      <input
        id={id}
        type="text"
        role="combobox"
        autocomplete="off"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-activedescendant={isOpen && found.length > 0 ? `${id}-${at}` : undefined}
        placeholder={agent}
        value={text.value ?? agent}
        onFocus={(event) => {
          text.value = ''
          chosen.value = 0
          event.currentTarget.select()
        }}
        onBlur={() => (text.value = undefined)}
        onInput={(event) => {
          text.value = event.currentTarget.value
          chosen.value = 0
        }}
        onKeyDown={press}
      />
      <Icon name="down" size={14} />
      <ul id={`${id}-list`} role="listbox" aria-label="Agents" hidden={!isOpen}>
        {isOpen &&
          found.map(({ name, title, kind, state }, index) => (
            <li
              key={name}
              class="row"
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              // Fires before the field loses the focus, which closes the list.
              onPointerDown={(event) => {
                event.preventDefault()
                choose(name)
              }}
              onPointerMove={() => (chosen.value = index)}
            >
              <span class="cut grow">{title === name ? name : `${name} · ${title}`}</span>
              <span class="faint">{state === 'open' ? kind : 'unavailable'}</span>
            </li>
          ))}
        {isOpen && found.length === 0 && <li class="picker-none faint">No matching agents</li>}
      </ul>
    </div>
  )
}
