//! The worker's services as an object.

use crate::abi::{Services, Services_TO, ServicesBox};
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{ROption, RStr};
use skillbench_plugin_api::raw::{SB_LOG_ERROR, SB_LOG_INFO, SB_LOG_WARN};
use skillbench_plugin_api::sdk::{Host, Level};

struct Shared(Host);

pub(super) fn shared(host: Host) -> ServicesBox {
    Services_TO::from_value(Shared(host), TD_Opaque)
}

impl Services for Shared {
    fn log(&self, level: i32, message: RStr<'_>) {
        let level = match level {
            SB_LOG_ERROR => Level::Error,
            SB_LOG_WARN => Level::Warn,
            SB_LOG_INFO => Level::Info,
            _ => Level::Debug,
        };
        self.0.log(level, message.as_str());
    }

    fn phase(&self, name: RStr<'_>, fraction: f64) {
        self.0.phase(name.as_str(), fraction);
    }

    fn evidence(&self, what: RStr<'_>, found: RStr<'_>) {
        self.0.evidence(what.as_str(), found.as_str());
    }

    fn now_ns(&self) -> ROption<u64> {
        self.0.now_ns().into()
    }

    fn stopping(&self) -> bool {
        self.0.stopping()
    }
}
