/**
 * Loaded before every program of a page under test: the ports on the page (3000) become ports that are free on this machine,
 * as `PARLEY_PAGE_PORTS` maps them ("3000=21034,3001=21035"). The addresses in files and commands are changed by the runner.
 */
import net from 'node:net'

const ports = new Map(
  (process.env['PARLEY_PAGE_PORTS'] ?? '').split(',').map((pair) => pair.split('=').map(Number) as [number, number]),
)

const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]): net.Server {
  const [first, ...rest] = args
  const mapped = (port: unknown): unknown => ports.get(Number(port)) ?? port
  const hasOptions = typeof first === 'object' && first !== null && 'port' in first
  return Reflect.apply(listen, this, [hasOptions ? { ...first, port: mapped(first.port) } : mapped(first), ...rest])
} as typeof listen
