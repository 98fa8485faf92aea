// Device names for the user. An id consists of the host API and the name, such as "alsa:USB Audio"; a second
// device with the same id gets the suffix "#2".

import type { Device } from './protocol.gen';
import type { Translate } from './text';

/** Choice is an entry in the list of devices. */
export interface Choice {
  readonly label: string;
  readonly description: string;
  /** the value for the setting; undefined follows the system */
  readonly value: string | undefined;
}

/** The entries: the system's default, then each device. Devices with equal names show their host API and number. */
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

/** What distinguishes a device from others with the same name. */
function apart({ id, name }: Device): string {
  const [, api = '', rest = id] = /^([^:]*):(.*)$/s.exec(id) ?? [];
  return rest === name ? api : rest.startsWith(`${name}#`) ? `${api} ${rest.slice(name.length)}` : id;
}

/** The display name of a setting's device. The setting may hold its id. */
export function nameOf(setting: string, devices: readonly Device[]): string {
  const device = devices.find((d) => d.id === setting);
  return device === undefined ? setting : `${device.name} (${apart(device)})`;
}
