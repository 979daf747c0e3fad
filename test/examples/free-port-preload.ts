/**
 * Loaded before a program under test: it gets a free port instead of the requested one, and prints it. So the programs
 * of the README and of examples/ run as written, without port conflicts on this machine. A server that requests any free port is
 * not the one under test, such as a model on loopback.
 */
import net from 'node:net'

const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (this: net.Server, ...args: unknown[]): net.Server {
  const [first, ...rest] = args
  const requested: unknown = typeof first === 'object' && first !== null ? (first as net.ListenOptions).port : first
  this.once('listening', () => {
    const address = this.address()
    if (requested !== 0 && typeof address === 'object' && address !== null) process.send?.({ port: address.port })
  })
  const freed = typeof first === 'object' && first !== null ? [{ ...first, port: 0 }, ...rest] : [0, ...rest]
  return Reflect.apply(listen, this, freed) as net.Server
} as typeof listen
