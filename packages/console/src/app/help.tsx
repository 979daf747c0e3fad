/** `?`: which keys do what, here and now. */
import { signal } from '@preact/signals'
import { useDialog } from './dialog.ts'
import { isMac, keyGroups, useKeys } from './keys.ts'
import { keyCaps } from './press.ts'
import './help.css'

const isOpen = signal(false)

export function HelpKeys() {
  const dialog = useDialog(isOpen)
  useKeys([{ key: '?', does: 'Show these keys', group: 'Everywhere', run: () => (isOpen.value = true) }])
  return (
    <dialog {...dialog} class="help" aria-labelledby="help-title">
      <div class="help-head">
        <h2 id="help-title">Keys</h2>
        <button type="button" onClick={() => (isOpen.value = false)}>
          Close
        </button>
      </div>
      {isOpen.value && <KeyList />}
    </dialog>
  )
}

/** Those of this page first, then those that work everywhere. */
export function KeyList() {
  const order = ['On this page', 'Everywhere', 'Go to']
  const groups = [...keyGroups()].sort((a, b) => order.indexOf(a.title) - order.indexOf(b.title))
  const hasEscape = groups.some(({ keys }) => keys.some(({ key }) => key === 'Escape'))
  return (
    <div class="key-list">
      {groups.map(({ title, keys }) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>
            {keys.map(({ key, does }) => (
              <div key={key}>
                <dt>
                  {keyCaps(key, isMac).map((cap) => (
                    <kbd key={cap}>{cap}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
            {title === 'Everywhere' && !hasEscape && (
              <div>
                <dt>
                  <kbd>Esc</kbd>
                </dt>
                <dd>Close what is open</dd>
              </div>
            )}
          </dl>
        </section>
      ))}
    </div>
  )
}
