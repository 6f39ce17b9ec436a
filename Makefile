# A thin front for Meson: the targets people type.
BUILD ?= build

.PHONY: all build clean
all: build

build: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	meson setup $(BUILD)

clean:
	rm -rf $(BUILD)
