// How devices are named for the user. An id is made of the host API and the name,
// such as "alsa:USB Audio", and of equal ones the second ends with "#2".

import type { Device } from './protocol.gen';
import type { Translate } from './text';

/** Choice is a row of the list of devices. */
export interface Choice {
  readonly label: string;
  readonly description: string;
  /** what the setting is set to: undefined follows the system */
  readonly value: string | undefined;
}

/** The rows: the system's default, then each device. Devices of one name are told apart by their host API and number. */
export function choices(devices: readonly Device[], t: Translate): Choice[] {
  const alike = (name: string): boolean => devices.filter((d) => d.name === name).length > 1;
  return [
    { label: t('System default'), description: t('follows the system'), value: undefined },
    ...devices.map((d) => ({
      label: d.isSelected ? `$(check) ${d.name}` : d.name,
      description: [...(alike(d.name) ? [apart(d)] : []), ...(d.isDefault ? [t('default')] : [])].join(', '),
      value: alike(d.name) ? d.id : d.name,
    })),
  ];
}

/** What tells a device from one of the same name. */
function apart({ id, name }: Device): string {
  const [, api = '', rest = id] = /^([^:]*):(.*)$/s.exec(id) ?? [];
  return rest === name ? api : rest.startsWith(`${name}#`) ? `${api} ${rest.slice(name.length)}` : id;
}

/** What a setting names, for the panel: a device's name where the setting holds its id. */
export function nameOf(setting: string, devices: readonly Device[]): string {
  const device = devices.find((d) => d.id === setting);
  return device === undefined ? setting : `${device.name} (${apart(device)})`;
}
