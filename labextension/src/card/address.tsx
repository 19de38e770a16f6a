import type { JSX } from 'preact';
import type { Elicitation } from '../types';
import { useCard, useUi } from './context';
import { Seen } from './seen';

/** A whole address, its host set off, what to beware of, and the one link by which a person may open it. */
export function AddressView({ node }: { node: Elicitation }): JSX.Element {
  const { live } = useCard();
  const { address, url } = node;
  const read = url === null ? null : readByBrowser(url);
  const wanted = live && !node.completed && (node.state === 'open' || node.state === 'accepted');
  if (!address || !url) return <p class="acp-address" dir="ltr"><Seen text={url ?? 'no address'} /></p>;
  const warnings = [...address.warnings, ...(read && !sameHost(read, address.host) ? [`Your browser reads the host as ${read.hostname}`] : [])];
  return (
    <>
      <p class="acp-address" dir="ltr"><Seen text={address.before} /><b><Seen text={address.host} /></b><Seen text={address.after} /></p>
      {warnings.map(words => <div class="acp-warning" key={words}><Seen text={words} /></div>)}
      {wanted && read ? <Open id={node.key} url={url} host={address.host} /> : null}
    </>
  );
}

/** The address as the browser takes it; null where it would go to no web page. */
function readByBrowser(url: string): URL | null {
  try {
    const read = new URL(url);
    return ['http:', 'https:'].includes(read.protocol) ? read : null;
  } catch {
    return null;
  }
}

function sameHost(read: URL, host: string): boolean {
  return read.hostname === host.toLowerCase();
}

function Open({ id, url, host }: { id: string; url: string; host: string }): JSX.Element {
  const [opened, setOpened] = useUi<boolean>(`opened:${id}`, false);
  return (
    <p class="acp-open">
      <a class="acp-button" href={url} target="_blank" rel="noopener noreferrer" onClick={() => setOpened(true)}>
        Open <Seen text={host} /> in a new tab
      </a>
      <span class="acp-quiet">{opened ? 'You have opened it.' : 'Nothing has opened it yet, and nothing but your click will.'}</span>
    </p>
  );
}
