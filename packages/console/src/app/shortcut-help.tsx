/** The list of shortcuts that work now (`?`). */
import { signal } from '@preact/signals'
import { useDialog } from './use-dialog.ts'
import { isMac, shortcutGroups, useShortcuts } from './shortcuts.ts'
import { keyCaps } from './key-sequence.ts'
import './shortcut-help.css'

const isOpen = signal(false)

export function ShortcutHelp() {
  const dialog = useDialog(isOpen)
  useShortcuts([{ key: '?', label: 'Show keyboard shortcuts', group: 'Everywhere', run: () => (isOpen.value = true) }])
  return (
    <dialog {...dialog} class="help" aria-labelledby="help-title">
      <div class="help-head">
        <h2 id="help-title">Keyboard shortcuts</h2>
        <button type="button" onClick={() => (isOpen.value = false)}>
          Close
        </button>
      </div>
      {isOpen.value && <ShortcutList />}
    </dialog>
  )
}

/** Shortcuts of this page first, then the global ones. */
export function ShortcutList() {
  const order = ['On this page', 'Everywhere', 'Go to'] as readonly string[]
  const groups = [...shortcutGroups()].sort((a, b) => order.indexOf(a.title) - order.indexOf(b.title))
  const hasEscape = groups.some(({ keys }) => keys.some(({ key }) => key === 'Escape'))
  return (
    <div class="key-list">
      {groups.map(({ title, keys }) => (
        <section key={title}>
          <h3 class="faint">{title}</h3>
          <dl>
            {keys.map(({ key, label }) => (
              <div key={key}>
                <dt>
                  {keyCaps(key, isMac).map((cap) => (
                    <kbd key={cap}>{cap}</kbd>
                  ))}
                </dt>
                <dd>{label}</dd>
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
